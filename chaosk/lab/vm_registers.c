/* Replaces ptrace() for the kernel of a virtual machine (User Mode Linux 6.1), by LD_PRELOAD.
 *
 * That kernel has room for 2,696 bytes of a process's extended registers. On a read, Linux returns as many of them as
 * fit. On a write it accepts only the whole set (EFAULT, xstateregs_set), which is 11,008 bytes if the processor has
 * AMX. So this function pads writes with zeros. The missing bytes are the tiles of AMX. No program on such a machine
 * uses them, since it would have to request them by a call (ARCH_REQ_XCOMP_PERM) that this kernel does not have.
 *
 * No header is included, so that only a compiler is needed.
 */

enum { GET_REGISTERS = 0x4204, SET_REGISTERS = 0x4205, EXTENDED = 0x202 };

struct room {
    void *at;
    unsigned long size;
};

typedef long call(long request, int process, void *what, void *data);

extern void *dlsym(void *where, const char *name);
extern void *memcpy(void *to, const void *from, unsigned long size);
extern void *memset(void *at, int byte, unsigned long size);

static char whole[1 << 16]; /* not on the stack, which is small in a kernel; it has one thread */
static unsigned long size;  /* of the set on this processor, after the first read */

long ptrace(long request, int process, void *what, void *data)
{
    static call *next;
    struct room *room = data;
    struct room all = {whole, sizeof whole};
    long answer;

    if (!next)
        next = (call *)dlsym((void *)-1 /* RTLD_NEXT */, "ptrace");
    if (what != (void *)EXTENDED || (request != GET_REGISTERS && request != SET_REGISTERS))
        return next(request, process, what, data);
    if (request == GET_REGISTERS) {
        answer = next(request, process, what, &all);
        if (answer < 0)
            return answer;
        size = all.size;
        if (room->size > size)
            room->size = size;
        memcpy(room->at, whole, room->size);
        return answer;
    }
    if (room->size >= size)
        return next(request, process, what, data);
    memcpy(whole, room->at, room->size);
    memset(whole + room->size, 0, size - room->size);
    all.size = size;
    return next(request, process, what, &all);
}

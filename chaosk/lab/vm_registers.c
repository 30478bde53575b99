/* Stands before the C library of a virtual machine's kernel (User Mode Linux 6.1), by LD_PRELOAD.
 *
 * That kernel has room for 2,696 bytes of a process's extended registers. Linux hands out as much of them as there is
 * room for, but takes back nothing except the whole (EFAULT, xstateregs_set), which is 11,008 bytes where the processor
 * has AMX. So what the kernel gives back is filled up with zeros here: the rest are the tiles of AMX, which no program
 * on such a machine has in use, since it would have to ask for them by a call (ARCH_REQ_XCOMP_PERM) that this kernel
 * does not know.
 *
 * No header is included, so that a compiler is all it takes.
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

static char whole[1 << 16]; /* not on the stack: those of a kernel are small; it has one thread */
static unsigned long size;  /* of them here, once they were asked for */

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

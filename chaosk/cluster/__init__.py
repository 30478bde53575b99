"""Live facts of a cluster: leaders, in-sync replicas, controller, coordinators, offsets, ZooKeeper roles."""

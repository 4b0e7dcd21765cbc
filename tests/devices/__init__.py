"""Every network of the house on a device that is not the CPU."""

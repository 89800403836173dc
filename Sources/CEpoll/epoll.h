// What the Glibc and Musl modules leave out. Empty where there is no epoll.
#ifdef __linux__
#include <sys/epoll.h>

/// https://man7.org/linux/man-pages/man2/accept4.2.html, which the modules hide as an extension.
int accept4(int descriptor, void *address, unsigned int *length, int flags);
#endif

// Reads what a display shows, whichever compositor draws it.
//
//   kms-shot DEVICE     for each line "FIRST COUNT PATH" on stdin: writes COUNT rows of pixels from row FIRST to PATH, as
//                       they lie in memory (COUNT 0: all that follow), and answers with "WIDTH HEIGHT STRIDE FOURCC
//                       NANOSECONDS SURE", the time being that of CLOCK_MONOTONIC; with "error WHY" if it cannot
//
// The compositor is the display's master; root may read its framebuffers all the same. A picture counts only if the same
// framebuffer was shown before and after it was copied, since what is not shown is what a compositor draws to. SURE is 0
// if copying took so long that it may have been away and drawn to in between.
// The kernel's structures are written out here, because its drm_mode.h is in no package that veil needs.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct resources {
    uint64_t fbs, crtcs, connectors, encoders;
    uint32_t fb_count, crtc_count, connector_count, encoder_count, min_width, max_width, min_height, max_height;
};
struct crtc {
    uint64_t connectors;
    uint32_t connector_count, id, fb, x, y, gamma_size, mode_valid;
    uint8_t mode[68];
};
struct framebuffer {
    uint32_t id, width, height, fourcc, flags, handles[4], strides[4], offsets[4];
    uint64_t modifiers[4];
};
struct prime {
    uint32_t handle, flags;
    int32_t fd;
};
struct gem {
    uint32_t handle, pad;
};
#define GET_RESOURCES _IOWR('d', 0xA0, struct resources)
#define GET_CRTC _IOWR('d', 0xA1, struct crtc)
#define GET_FB _IOWR('d', 0xCE, struct framebuffer)
#define TO_FD _IOWR('d', 0x2D, struct prime)
#define CLOSE _IOW('d', 0x09, struct gem)

// How often a picture is tried again that changed while it was copied, and how long copying one may take: a framebuffer
// comes back two commits later, and commits are a refresh apart.
enum { TRIES = 20, COPY_NS = 8000000 };

// The framebuffer that the first lit CRTC shows; 0 if none is lit.
static uint32_t shown(int device)
{
    uint32_t ids[16];
    struct resources all = {.crtcs = (uintptr_t)ids, .crtc_count = 16};
    if (ioctl(device, GET_RESOURCES, &all))
        return 0;
    for (uint32_t i = 0; i < all.crtc_count && i < 16; i++) {
        struct crtc crtc = {.id = ids[i]};
        if (!ioctl(device, GET_CRTC, &crtc) && crtc.mode_valid && crtc.fb)
            return crtc.fb;
    }
    return 0;
}

// Which rows of the picture go where.
struct wanted {
    uint32_t first, count;
    const char *path;
};

// Writes rows of a dma-buf into a file; NULL, or what went wrong. It is mapped from its beginning, since shmem's buffers
// ignore an offset; pages that are not read cost nothing.
static const char *write_rows(int dmabuf, const struct framebuffer *fb, const struct wanted *wanted)
{
    uint32_t first = wanted->first < fb->height ? wanted->first : fb->height;
    uint32_t count = wanted->count && wanted->count < fb->height - first ? wanted->count : fb->height - first;
    size_t start = fb->offsets[0] + (size_t)fb->strides[0] * first, size = (size_t)fb->strides[0] * count;
    int file = open(wanted->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return "the file cannot be made";
    char *pixels = mmap(NULL, start + size, PROT_READ, MAP_SHARED, dmabuf, 0);
    const char *wrong = NULL;
    if (pixels == MAP_FAILED)
        wrong = "the framebuffer cannot be mapped";
    else if (write(file, pixels + start, size) != (ssize_t)size)
        wrong = "the file cannot be written";
    if (pixels != MAP_FAILED)
        munmap(pixels, start + size);
    close(file);
    return wrong;
}

// Copies rows of a framebuffer into a file; NULL, or what went wrong.
static const char *copy(int device, struct framebuffer *fb, const struct wanted *wanted)
{
    if (ioctl(device, GET_FB, fb))
        return "the framebuffer cannot be read";
    const char *wrong = "the framebuffer is not linear, or cannot be exported";
    struct prime prime = {.handle = fb->handles[0], .flags = O_CLOEXEC};
    if (!fb->modifiers[0] && prime.handle && !ioctl(device, TO_FD, &prime)) {
        wrong = write_rows(prime.fd, fb, wanted);
        close(prime.fd);
    }
    for (int i = 0; i < 4; i++) {
        int again = 0;
        for (int j = 0; j < i; j++)
            again |= fb->handles[j] == fb->handles[i];
        struct gem gem = {.handle = fb->handles[i]};
        if (gem.handle && !again)
            ioctl(device, CLOSE, &gem);
    }
    return wrong;
}

static long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void shoot(int device, const struct wanted *wanted)
{
    for (int i = 1; i <= TRIES; i++) {
        long long start = now();
        struct framebuffer fb = {.id = shown(device)};
        if (!fb.id) {
            printf("error the display is dark\n");
            return;
        }
        const char *wrong = copy(device, &fb, wanted);
        int why = errno;
        // Between the two questions a compositor may have taken it away.
        if (shown(device) != fb.id)
            continue;
        int sure = now() - start < COPY_NS;
        if (wrong)
            printf("error %s: %s\n", wrong, strerror(why));
        else if (sure || i == TRIES)
            printf("%u %u %u %.4s %lld %d\n", fb.width, fb.height, fb.strides[0], (const char *)&fb.fourcc, start, sure);
        else
            continue;
        return;
    }
    printf("error the picture changes faster than it can be read\n");
}

int main(int count, char **arguments)
{
    int device = count == 2 ? open(arguments[1], O_RDWR | O_CLOEXEC) : -1;
    if (device < 0) {
        fprintf(stderr, "kms-shot: one device that can be opened, please\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    char path[4096];
    struct wanted wanted = {.path = path};
    while (scanf("%u %u %4095[^\n]", &wanted.first, &wanted.count, path) == 3)
        shoot(device, &wanted);
    return 0;
}

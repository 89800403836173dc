// curl_easy_setopt and curl_easy_getinfo are variadic, and Swift cannot call variadic C functions.
#include <curl/curl.h>
#include <stdint.h>
#include <sys/socket.h>

typedef size_t (*curl_data_callback)(char *, size_t, size_t, void *);

static inline CURLcode curl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_string(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_set_callback(
    CURL *handle, CURLoption option, curl_data_callback value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode curl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

static inline int curl_shrink_receive_buffer(void *size, curl_socket_t socket, curlsocktype purpose) {
  int bytes = (int)(intptr_t)size;
  (void)purpose;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  return CURL_SOCKOPT_OK;
}
// How many bytes the kernel takes in for a client that does not read.
static inline CURLcode curl_set_receive_buffer(CURL *handle, int bytes) {
  curl_easy_setopt(handle, CURLOPT_SOCKOPTDATA, (void *)(intptr_t)bytes);
  return curl_easy_setopt(handle, CURLOPT_SOCKOPTFUNCTION, curl_shrink_receive_buffer);
}

vcl 4.1;

# Varnish 7.1 (Debian 12): /etc/varnish/didchange.vcl
# A server with "caches: {streams: 60s}": however many clients a stream has here, the server has one.
#
#     varnishd -a :6081 -f /etc/varnish/didchange.vcl -s malloc,256m \
#         -p thread_pools=2 -p thread_pool_min=500 -p thread_pool_max=5000
#
# Each client of a stream takes a thread, of which each pool has thread_pool_max: here 10 000 clients.
# Where streams are longer than ten minutes, send_timeout (600 s) must be longer too. TLS and HTTP/2 to
# browsers are for what stands before Varnish: nginx, Caddy or HAProxy, by the recipes beside this one.
# With "proxies: [ADDRESS OF VARNISH]" the server knows its clients' addresses.

import std;

backend default {
    .host = "127.0.0.1";
    .port = "8080";
    .connect_timeout = 2s;
    # The first fetch of a query may take as long as "timeouts: statement" grants.
    .first_byte_timeout = 20s;
    # An idle stream says something every 15 s.
    .between_bytes_timeout = 20s;
}

sub vcl_recv {
    # For operators, who ask the server itself: Scripts/monitoring.
    # Nor by way of another path: the server resolves dots, and no browser sends any.
    if (req.url ~ "(?i)^/+(m|%6d)(e|%65)(t|%74)(r|%72)(i|%69)(c|%63)(s|%73)/*([?]|$)"
        || req.url ~ "(?i)^[^?]*/([.]|%2e)([.]|%2e)?(/|[?]|$)") {
        return (synth(403));
    }
    # What is shared: streams and long polls. All else is the server's.
    if (req.method != "GET" || req.url !~ "^[^?]*/(events|changes)([?]|$)") {
        return (pass);
    }
    # Whoever says who they are has a stream of their own. Name the cookie that your callers show
    # ("callers: cookie"); other cookies say nothing to the server.
    std.collect(req.http.Cookie, "; ");
    if (req.http.Authorization || req.url ~ "access_token"
        || req.http.Cookie ~ "(^|;)[ \t]*session=") {
        return (pass);
    }
    unset req.http.Cookie;
    # EventSource asks for what no cache has (Cache-Control: no-cache), and is meant to share.
    unset req.http.Cache-Control;
    unset req.http.Pragma;
    unset req.http.Range;
    unset req.http.If-None-Match;
    # Streams are never compressed.
    unset req.http.Accept-Encoding;
    # Browsers write the same wish in many ways.
    if (req.http.Accept ~ "application/x-ndjson") {
        set req.http.Accept = "application/x-ndjson";
    } else {
        unset req.http.Accept;
    }
    return (hash);
}

# All that an answer depends on, so that Vary has nothing left to say: what follows one version is another
# stream than what follows the next.
sub vcl_hash {
    hash_data(req.url);
    hash_data(req.http.Host);
    hash_data(req.http.Last-Event-ID);
    hash_data(req.http.Origin);
    hash_data(req.http.Accept);
    return (lookup);
}

sub vcl_backend_response {
    # A stream that has ended is of no use to anybody.
    set beresp.grace = 0s;
    set beresp.keep = 0s;
    if (beresp.status == 200 && beresp.http.Cache-Control ~ "public") {
        # Whoever asks while it goes on joins it: events pass at once, and the first are sent again.
        set beresp.do_stream = true;
        unset beresp.http.Vary;
    } else {
        # Is nobody else's; a second later another request finds out whether that is still so.
        set beresp.uncacheable = true;
        set beresp.ttl = 1s;
    }
    return (deliver);
}

sub vcl_deliver {
    # For caches between here and the client.
    if (resp.http.Cache-Control ~ "public") {
        set resp.http.Vary = "Accept, Origin, Last-Event-ID";
    }
}

# While the server is away a stream says when to come back: a browser's EventSource would take a 503 for
# the end. One answer serves all for a second.
sub vcl_backend_error {
    if (bereq.method == "GET" && bereq.url ~ "^[^?]*/events([?]|$)") {
        set beresp.status = 200;
        set beresp.reason = "OK";
        set beresp.http.Content-Type = "text/event-stream";
        set beresp.http.Cache-Control = "no-store";
        set beresp.ttl = 1s;
        set beresp.grace = 0s;
        set beresp.keep = 0s;
        synthetic("retry: " + std.integer(real = std.random(1000, 3000)) + {"

"});
        return (deliver);
    }
}

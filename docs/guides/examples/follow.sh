#!/bin/sh
# Follows the event feed as a stream, and keeps the cursor in a file.
#
#   TOCSIN_URL=http://localhost:8080 TOCSIN_TOKEN=tcs_... sh follow.sh
#
# Settings: TOCSIN_URL, TOCSIN_TOKEN, CURSOR_FILE (default cursor). Needs a POSIX shell and curl.

: "${TOCSIN_URL:=http://localhost:8080}" "${CURSOR_FILE:=cursor}" "${TOCSIN_TOKEN:?is not set}"
head=$CURSOR_FILE.head

# The type, and the event as one line of JSON. After a crash an event may come again: its "id" is the same.
handle() {
  printf '%s %s\n' "$1" "$2"
}

# A message ends with an empty line. Without one it is cut off, and comes again.
read_messages() {
  cursor='' type='' data=''
  while IFS= read -r line; do
    case $line in
      'id: '*) cursor=${line#id: } ;;
      'event: '*) type=${line#event: } ;;
      'data: '*) data=${line#data: } ;;
      '')
        if [ -n "$data" ]; then handle "$type" "$data" || return; fi
        if [ -n "$cursor" ]; then printf '%s\n' "$cursor" >"$CURSOR_FILE.new" && mv "$CURSOR_FILE.new" "$CURSOR_FILE"; fi
        cursor='' type='' data=''
        ;;
    esac
  done
}

# In curl's configuration, so that the token is in no list of processes.
configuration() {
  printf 'header = "Authorization: Bearer %s"\n' "$TOCSIN_TOKEN"
  if [ -s "$CURSOR_FILE" ]; then printf 'header = "Last-Event-ID: %s"\n' "$(cat "$CURSOR_FILE")"; fi
}

while :; do
  : >"$head"
  # The feed sends something every 15 seconds. A cursor counts instead of `from`.
  configuration | curl -sS -N --fail --config - --dump-header "$head" --connect-timeout 10 --speed-limit 1 \
    --speed-time 45 -H 'Accept: text/event-stream' "${TOCSIN_URL%/}/api/v1/events?from=beginning" | read_messages
  status=$(sed -n '1s/^[^ ]* \([0-9]*\).*/\1/p' "$head")
  case $status in
    200) ;; # A stream ends after 90 to 105 seconds.
    410)
      echo 'the feed no longer has the events behind the cursor: read the lists of the API again' >&2
      rm -f "$CURSOR_FILE"
      ;;
    400 | 401 | 403 | 404) exit 1 ;;
    *) sleep 4 ;;
  esac
  sleep 1
done

#!/bin/sh
# Of the service `backup` of docker-compose.yml, and of the CronJob of infra/kubernetes/examples/backup.yaml, which names
# its server: a dump of the database each day, and its restore as a drill.
#   backup.sh          dumps now and then each day
#   backup.sh once     dumps now
#   backup.sh drill    restores the newest dump into a database of its own, counts what it has, and removes it
#   backup.sh healthy  fails when the newest dump is older than 26 hours
set -eu
PGPASSWORD="$(cat /run/tocsin/password)"
export PGHOST="${PGHOST:-postgres}" PGUSER="${PGUSER:-postgres}" PGDATABASE="${PGDATABASE:-tocsin}" PGPASSWORD

dump() {
  file="/backups/tocsin-$(date -u +%Y%m%dT%H%M%SZ).dump"
  pg_dump --format=custom --file="$file.partial"
  # A dump that was cut off has no list.
  pg_restore --list "$file.partial" > /dev/null
  mv "$file.partial" "$file"
  # Names sort by time.
  ls /backups/tocsin-*.dump | head -n "-${BACKUP_KEEP:-7}" | xargs -r rm --
  echo "wrote $file"
}

drill() {
  newest="$(ls /backups/tocsin-*.dump 2> /dev/null | tail -n 1)"
  if [ -z "$newest" ]; then
    echo 'there is no dump in /backups' >&2
    exit 1
  fi
  dropdb --if-exists --force tocsin_drill
  createdb tocsin_drill
  trap 'dropdb --force tocsin_drill' EXIT
  # The role that restores need not be that of the apps.
  pg_restore --exit-on-error --no-owner --no-privileges --dbname=tocsin_drill "$newest"
  psql --dbname=tocsin_drill --no-psqlrc --tuples-only --no-align --command="
    select 'restored ' || (select count(*) from gateway.workspaces) || ' workspaces and '
      || (select count(*) from incident.incidents) || ' incidents'"
}

case "${1:-daily}" in
  daily)
    trap 'exit 0' TERM INT
    while true; do
      dump || echo 'the dump failed; trying again in an hour' >&2
      if [ -n "$(find /backups -name 'tocsin-*.dump' -mmin -60)" ]; then pause=86400; else pause=3600; fi
      sleep "$pause" &
      wait "$!"
    done
    ;;
  once) dump ;;
  drill) drill ;;
  healthy) [ -n "$(find /backups -name 'tocsin-*.dump' -mmin -1560)" ] ;;
  *)
    echo 'usage: backup.sh [once | drill | healthy]' >&2
    exit 2
    ;;
esac

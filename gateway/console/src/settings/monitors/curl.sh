# The same with "resolved" when it is over.
curl -sS --fail-with-body --retry 5 'https://acme.tocsin.example.com/api/v1/alerts?on_end=resolve' \
  -H 'Authorization: Bearer tcs_…' -H 'Content-Type: application/json' -d '{
    "id": "backup db-1",
    "status": "firing",
    "title": "The backup of db-1 failed",
    "severity": "warning",
    "service": "database"
  }'

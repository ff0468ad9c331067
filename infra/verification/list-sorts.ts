/** The sorts of the list of incidents, besides that by a custom field. The first one is that of their creation. */
export const SORTS = [
  'created_at',
  'last_event_at',
  'severity',
  'service',
  'diagnosis',
  'case',
  'regions',
  'team',
  'impact',
  'status',
  'owner',
  'events',
];

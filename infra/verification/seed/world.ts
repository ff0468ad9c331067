/** Users of each seeded workspace. IDs of users, teams, services and fields continue from workspace to workspace. */
export const USERS = 40;

export const TEAMS = [
  'Payments',
  'Checkout',
  'Identity',
  'Search',
  'Ledger',
  'Gateway',
  'Mail',
  'Reports',
  'Catalog',
  'Billing',
  'Media',
  'Platform',
];

const SERVICE_PARTS = ['api', 'worker', 'db', 'web', 'edge'];

/** Every team owns a service of each kind. */
export const SERVICES = TEAMS.flatMap((team) => SERVICE_PARTS.map((part) => `${team.toLowerCase()}_${part}`));

export const TIERS = ['t0', 't1', 't2', 't3'];

export const REGIONS = [
  'us-east-1',
  'eu-west-1',
  'us-west-2',
  'eu-central-1',
  'ap-south-1',
  'ap-northeast-1',
  'sa-east-1',
  'ca-central-1',
  'af-south-1',
  'me-south-1',
];

export const ENVIRONMENTS = ['production', 'staging', 'development', 'sandbox'];
export const PLACES = ['office', 'warehouse', 'store', 'website', 'app'];

export const FIELDS = [
  { slug: 'score', name: 'Score', field_type: 'number', config: { min: 0, precision: 0 } },
  { slug: 'customer', name: 'Customer', field_type: 'string', config: { max_length: 200 } },
  { slug: 'environment', name: 'Environment', field_type: 'select', config: { options: ENVIRONMENTS } },
  { slug: 'public', name: 'Public', field_type: 'boolean', config: null },
  { slug: 'review', name: 'Review', field_type: 'date', config: null },
  { slug: 'shift', name: 'Shift', field_type: 'time', config: null },
  { slug: 'detected', name: 'Detected', field_type: 'datetime', config: null },
  { slug: 'cost', name: 'Cost', field_type: 'monetary', config: { currencies: ['EUR', 'USD'] } },
  { slug: 'places', name: 'Places', field_type: 'multi_select', config: { options: PLACES } },
  { slug: 'links', name: 'Links', field_type: 'json', config: null },
] as const;

/** The version of all replicated data: it is written at once. */
export const VERSION = 1;

export const REPORTING_CURRENCY = 'USD';
export const EXCHANGE_RATES = { EUR: 1.085, JPY: 0.0066 };

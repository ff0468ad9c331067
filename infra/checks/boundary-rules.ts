import type { IForbiddenRuleType, IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Captures the gateway or a service; `$1` in the other half of a rule is what it captured. */
const APP = '^(gateway|services/[^/]+)/';
/** What runs in production, as against tests and what only helps to write them. */
export const PRODUCTION = [
  `${APP}(?:src|migrations)/`,
  '^shared/(?!testing/)[^/]+/src/',
  '^infra/(?!(?:bench|checks|generate|test|testing)/)',
];

/** The files of a service that infra, which starts and administers them, may use. */
const FRONTS = '(?:main|app|config|schema|administration|http/routes)[.]ts$';

const rule = (
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IForbiddenRuleType => ({ name, comment, severity: 'error', from, to });

/** A room of an app, and the only rooms (or files of `src/`) that it may import. */
const room = (name: string, ...allowed: string[]): IForbiddenRuleType =>
  rule(
    `room-${name}`,
    `src/${name} imports only ${allowed.join(', ')} of its own app`,
    { path: `${APP}src/${name}(?:/|[.]ts$)` },
    { path: '^$1/(?!node_modules/)', pathNot: `^$1/src/(?:${allowed.join('|')})(?:/|[.]ts$)` },
  );

/** A package of `shared/`, and the only other packages of ours that it may import. */
const layer = (name: string, ...allowed: string[]): IForbiddenRuleType =>
  rule(
    `layer-${name}`,
    `shared/${name} imports ${allowed.length === 0 ? 'no other package of ours' : `only ${allowed.join(', ')} of ours`}`,
    { path: `^shared/${name}/src/` },
    {
      path: '^(?:gateway|services|shared|infra)/',
      pathNot: [`^shared/(?:${[name, ...allowed].join('|')})/src/`, 'node_modules/'],
    },
  );

/** The house's rules of who may import whom (CONTRIBUTING.md); paths are relative to the repository. */
export const BOUNDARY_RULES: IForbiddenRuleType[] = [
  room('main', 'app', 'config', 'schema'),
  room('app', 'config', 'schema', 'http', 'messaging', 'usecases', 'domain', 'store', 'clients', 'app'),
  room('administration', 'config', 'schema', 'usecases', 'domain', 'store', 'clients', 'administration'),
  room('http', 'http', 'usecases', 'domain', 'store', 'clients'),
  room('messaging', 'messaging', 'usecases', 'domain', 'store', 'clients'),
  room('usecases', 'usecases', 'domain', 'store', 'clients'),
  room('store', 'store', 'domain'),
  room('clients', 'clients', 'domain'),
  room('domain', 'domain'),
  room('config', 'config', 'domain', 'schema'),
  room('schema', 'schema'),
  rule(
    'pure-domain',
    'domain rules know no database, no wire and no broker',
    { path: `${APP}src/domain/` },
    {
      path: [
        'node_modules/(?:knex|pg|ioredis|amqplib|express|opossum)/',
        '^(?:node:)?(?:fs|http|https|tls|dns)(?:/|$)',
        '^shared/messaging/',
      ],
    },
  ),
  rule(
    'no-foreign-service',
    'apps know each other by messages and internal HTTP only',
    { path: `${APP}(?:src|migrations)/` },
    { path: '^(?:gateway|services/[^/]+)/', pathNot: '^$1/' },
  ),
  rule(
    'infra-by-the-front-door',
    'infra starts, migrates and administers apps; their rooms are none of its business',
    { path: '^infra/', pathNot: '^infra/test/' },
    { path: `${APP}src/`, pathNot: `${APP}src/${FRONTS}` },
  ),
  rule(
    'no-way-back-to-infra',
    'apps and packages do not know how they are run',
    { path: '^(?:gateway|services|shared)/', pathNot: '/test/' },
    { path: '^infra/' },
  ),
  layer('contracts'),
  rule(
    'contracts-on-zod-alone',
    'whoever reads an event needs nothing but its schema',
    { path: '^shared/contracts/src/' },
    { dependencyTypesNot: ['local'], pathNot: 'node_modules/zod/' },
  ),
  layer('runtime'),
  layer('safe-http'),
  layer('http', 'runtime'),
  layer('messaging', 'runtime', 'contracts'),
  layer('service', 'runtime', 'contracts', 'http', 'messaging'),
  layer('testing', 'runtime', 'contracts', 'http', 'messaging'),
  rule(
    'no-tests-in-production',
    'what runs in production imports neither tests nor their tools',
    { path: PRODUCTION },
    { path: ['^shared/testing/', '^infra/(?:bench|checks|generate|test|testing)/', '/test/', '[.]test[.]ts$'] },
  ),
  rule(
    'by-package-name',
    'another package is imported by its name, so that only what it exports is used',
    { path: '^((?:gateway|(?:services|shared)/[^/]+|infra)/)' },
    { path: '^shared/', pathNot: '^$1', dependencyTypes: ['local'] },
  ),
  rule('no-cycle', 'what imports itself in a circle is one module', {}, { circular: true }),
  rule('no-unresolvable', 'every import leads somewhere', {}, { couldNotResolve: true }),
  rule(
    'no-orphan',
    'a file that nothing uses and that uses nothing is left over',
    { orphan: true, pathNot: ['[.]test[.]ts$', '[.]d[.]ts$'] },
    {},
  ),
  {
    name: 'no-dead-file',
    comment: 'a file that no process reaches is left over',
    severity: 'error',
    from: { path: ['^(?:gateway|services/[^/]+)/(?:src/main[.]ts$|migrations/)', '^infra/(?!test/)'] },
    to: {
      path: ['^(?:gateway|services/[^/]+)/src/', '^shared/(?!testing/)[^/]+/src/'],
      pathNot: '/src/main[.]ts$',
      reachable: false,
    },
  },
];

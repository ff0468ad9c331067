import type { IForbiddenRuleType, IRegularForbiddenRuleType } from 'dependency-cruiser';

/** Captures the gateway or a service; `$1` in the other half of a rule refers to it. */
const APP = '^(gateway|services/[^/]+)/';
/** Code that runs in production. */
export const PRODUCTION = [
  `${APP}(?:src|migrations)/`,
  '^gateway/console/src/',
  '^shared/(?!testing/)[^/]+/src/',
  '^infra/(?!(?:generate|release|verification)/|[^/]+/test/)',
];

/** Captures the app, the package or the room of infra. */
const TESTS = '^(gateway|(?:services|shared|infra)/[^/]+)/test/';

/** The rooms of infra that the image has (`.dockerignore`). */
const IN_IMAGE = '^infra/(?:admin|backup|cli|compose|console|demo|embedded|installation|kubernetes|migrate)/';

/** The files of an app that infra may import, to start and administer it. */
const ENTRY_POINTS = '(?:main|app|config|schema|administration|description|http/contracts)[.]ts$';

const rule = (
  name: string,
  comment: string,
  from: IRegularForbiddenRuleType['from'],
  to: IRegularForbiddenRuleType['to'],
): IForbiddenRuleType => ({ name, comment, severity: 'error', from, to });

/** The layers that are folders, in `src/` or in a room of it. */
const FOLDERS = ['domain', 'store', 'clients', 'http', 'messaging'];

/** The paths of a layer or of a file of `src/`. Use cases are in a folder of `src/`, or directly in a room. */
const pathsIn = (src: string, name: string): string[] => {
  if (name === 'usecases') return [`${src}usecases/`, `${src}(?!(?:${FOLDERS.join('|')})/)[^/]+/[^/]+[.]ts$`];
  return FOLDERS.includes(name) ? [`${src}${name}/`, `${src}[^/]+/${name}/`] : [`${src}${name}[.]ts$`];
};

/** A layer or a file of `src/`, and the only others that it may import. */
const appLayer = (name: string, ...allowed: string[]): IForbiddenRuleType =>
  rule(
    `layer-${name}`,
    `${name} in src/ imports only ${allowed.join(', ')} of its own app`,
    { path: pathsIn(`${APP}src/`, name) },
    { path: '^$1/(?!node_modules/)', pathNot: allowed.flatMap((other) => pathsIn('^$1/src/', other)) },
  );

/** A package of `shared/`, and the only other packages of the repository that it may import. */
const sharedPackage = (name: string, ...allowed: string[]): IForbiddenRuleType =>
  rule(
    `package-${name}`,
    `of the other shared packages, shared/${name} imports ${allowed.length === 0 ? 'none' : `only ${allowed.join(', ')}`}`,
    { path: `^shared/${name}/src/` },
    {
      path: '^(?:gateway|services|shared|infra)/',
      pathNot: [`^shared/(?:${[name, ...allowed].join('|')})/src/`, 'node_modules/'],
    },
  );

/** Scripts that a page loads; no module imports them. */
const BROWSER_SCRIPTS = '^gateway/src/pages/http/(?:guides|reference)/[^/]+[.]js$';

/** `.oxlintrc.json` names it; no module imports it. */
const LINT_PLUGIN = '^infra/verification/checks/named-columns[.]ts$';

/** Texts and examples of the API description, which its generator finds by their names. */
const DOCUMENTATION = '^(?:gateway|services/[^/]+)/src/(?:http/|[^/]+/http/)(?:documentation|examples)[.]ts$';
/** Worker threads start from their own file; no module imports it. */
const WORKER_THREADS = '^services/[^/]+/src/(?:clients/|[^/]+/clients/)[^/]+-worker[.]ts$';

/** The packages that other systems install. */
const CLIENT_PACKAGE = '^shared/(?:events-client|sdk)/src/index[.]ts$';

/** Which modules may import which (CONTRIBUTING.md); paths are relative to the repository. */
export const BOUNDARY_RULES: IForbiddenRuleType[] = [
  appLayer('main', 'app', 'config', 'schema'),
  appLayer('app', 'config', 'schema', 'http', 'messaging', 'usecases', 'domain', 'store', 'clients', 'app'),
  appLayer('administration', 'config', 'schema', 'usecases', 'domain', 'store', 'clients', 'administration'),
  appLayer('description', 'http'),
  appLayer('http', 'http', 'usecases', 'domain', 'store', 'clients'),
  appLayer('messaging', 'messaging', 'usecases', 'domain', 'store', 'clients'),
  appLayer('usecases', 'usecases', 'domain', 'store', 'clients'),
  appLayer('store', 'store', 'domain'),
  appLayer('clients', 'clients', 'domain'),
  appLayer('domain', 'domain'),
  appLayer('config', 'config', 'domain', 'schema'),
  appLayer('schema', 'schema'),
  rule(
    'pure-domain',
    'the domain uses no database, no network and no broker',
    { path: pathsIn(`${APP}src/`, 'domain') },
    {
      path: [
        'node_modules/(?:knex|pg|ioredis|amqplib|express|opossum)/',
        '^(?:node:)?(?:fs|http|https|tls|dns)(?:/|$)',
        '^shared/messaging/',
      ],
    },
  ),
  rule(
    'no-other-app',
    'apps communicate only by messages and internal HTTP',
    { path: `${APP}(?:src|migrations)/` },
    { path: '^(?:gateway|services/[^/]+)/', pathNot: '^$1/' },
  ),
  rule(
    'console-uses-the-api-alone',
    'the console is a client of the public API; it shares only the reading of Markdown and of templates',
    { path: '^gateway/console/' },
    {
      path: '^(?:gateway|services|shared|infra)/',
      pathNot: ['^gateway/console/', '^shared/sdk/src/', '^shared/schemas/src/(?:markdown|postmortem-template)[.]ts$'],
    },
  ),
  rule(
    'console-by-itself',
    'the gateway serves the files that the console is built to, and nothing imports its sources',
    { pathNot: '^gateway/console/' },
    { path: '^gateway/console/' },
  ),
  rule(
    'console-rooms-below-its-start',
    'main.tsx and router.tsx put the rooms of the console together',
    { path: '^gateway/console/src/[^/]+/' },
    { path: '^gateway/console/src/[^/]+$' },
  ),
  rule(
    'infra-entry-points-only',
    'infra starts, migrates and administers apps through their entry points',
    { path: '^infra/', pathNot: '^infra/[^/]+/test/' },
    { path: `${APP}src/`, pathNot: `${APP}src/${ENTRY_POINTS}` },
  ),
  rule(
    'infra-in-the-image',
    'what runs in the image imports only what the image has',
    { path: IN_IMAGE, pathNot: '/test/' },
    { path: '^infra/', pathNot: [IN_IMAGE, 'node_modules/'] },
  ),
  rule(
    'verification-tools-below',
    'what starts and fills systems knows neither the measurements nor the tests',
    { path: '^infra/verification/(?:jest|servers|statements|systems)/' },
    { path: '^infra/verification/(?:attacks|bench|checks|compat|test)/' },
  ),
  rule(
    'verification-side-by-side',
    'attacks, benches and compatibility runs share only the tools below them',
    { path: '^infra/verification/(attacks|bench|compat)/' },
    { path: '^infra/verification/(?:attacks|bench|compat)/', pathNot: '^infra/verification/$1/' },
  ),
  rule(
    'no-import-of-infra',
    'apps and packages do not depend on how they are run',
    { path: '^(?:gateway|services|shared)/', pathNot: '/test/' },
    { path: '^infra/' },
  ),
  sharedPackage('schemas'),
  rule(
    'schemas-on-zod-alone',
    'consumers of events need only their schemas',
    { path: '^shared/schemas/src/' },
    { dependencyTypesNot: ['local'], pathNot: 'node_modules/zod/' },
  ),
  sharedPackage('events-client'),
  rule(
    'events-client-on-amqplib-alone',
    'the package for consumers is installed outside of the repository, with one dependency',
    { path: '^shared/events-client/src/' },
    { dependencyTypesNot: ['local', 'core'], pathNot: 'node_modules/amqplib/' },
  ),
  sharedPackage('sdk'),
  rule(
    'sdk-on-nothing',
    'the client of the API runs in browsers too, and without another package',
    { path: '^shared/sdk/src/' },
    { dependencyTypesNot: ['local', 'type-only'] },
  ),
  sharedPackage('runtime'),
  sharedPackage('safe-http', 'runtime'),
  sharedPackage('tracing', 'runtime'),
  sharedPackage('postgres', 'runtime'),
  sharedPackage('http', 'runtime', 'postgres', 'schemas'),
  sharedPackage('messaging', 'runtime', 'postgres', 'schemas'),
  sharedPackage('versioned-resources', 'runtime', 'postgres', 'schemas', 'http', 'messaging'),
  sharedPackage('service-host', 'runtime', 'postgres', 'schemas', 'http', 'messaging'),
  sharedPackage('testing', 'runtime', 'postgres', 'schemas', 'http', 'messaging'),
  rule(
    'no-test-tools-in-production',
    'production code does not depend on what makes and proves it',
    { path: PRODUCTION },
    { path: ['^shared/testing/', '^infra/(?:generate|release|verification)/'] },
  ),
  rule(
    'no-import-of-tests',
    'only tests import tests and their helpers',
    { path: '^(?:gateway|services|shared|infra)/', pathNot: '/test/' },
    { path: TESTS },
  ),
  rule(
    'tests-side-by-side',
    'tests share the helpers of their own folder and of whole systems',
    { path: TESTS },
    { path: TESTS, pathNot: ['^$1/', '^infra/verification/'] },
  ),
  rule(
    'by-package-name',
    'packages are imported by name, so that only their exports are used',
    { path: '^((?:gateway|(?:services|shared)/[^/]+|infra)/)' },
    { path: '^shared/', pathNot: '^$1', dependencyTypes: ['local'] },
  ),
  rule('no-cycle', 'modules must not import each other in a cycle', {}, { circular: true }),
  rule('no-unresolvable', 'every import must resolve', {}, { couldNotResolve: true }),
  rule(
    'no-orphan',
    'a file without imports and importers is unused',
    { orphan: true, pathNot: ['[.]test[.]ts$', '[.]d[.]ts$', BROWSER_SCRIPTS, LINT_PLUGIN] },
    {},
  ),
  {
    name: 'no-dead-file',
    comment: 'a file that no process reaches is unused',
    severity: 'error',
    from: {
      path: [
        '^(?:gateway|services/[^/]+)/(?:src/main[.]ts$|migrations/)',
        '^gateway/console/src/main[.]tsx$',
        WORKER_THREADS,
        CLIENT_PACKAGE,
        '^infra/(?![^/]+/test/)',
      ],
    },
    to: {
      path: ['^(?:gateway(?:/console)?|services/[^/]+)/src/', '^shared/(?!testing/)[^/]+/src/'],
      pathNot: ['/src/main[.]tsx?$', WORKER_THREADS, CLIENT_PACKAGE, BROWSER_SCRIPTS, DOCUMENTATION],
      reachable: false,
    },
  },
];

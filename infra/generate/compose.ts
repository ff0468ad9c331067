import { APP_NAMES, type AppName, APPS } from '../apps.ts';
import { calledBy, internalPort, settingsOf } from './app-settings.ts';
import { fileWithBlocks } from './blocks.ts';

/** What every app gets: from `x-environment` of the file, from its image or from its own address. */
const SHARED =
  /^(?:NODE_ENV|LOG_LEVEL|(?:INTERNAL_)?(?:HOST|PORT)|DRAIN_SECONDS|TOCSIN_.+|(?:\w+_)?DATABASE_URL|DATABASE_.+|MAX_BODY_BYTES|IDEMPOTENCY_RETENTION_HOURS|INBOX_RETENTION_DAYS|AMQP_URL|REDIS_URL|\w+_FILE)$/;
/** Receivers on loopback addresses are refused in production. */
const NOT_IN_PRODUCTION = 'WEBHOOK_TEST_RECEIVERS';

const forEachApp = (text: (app: AppName) => string) => APP_NAMES.map(text).join('\n');
const databaseFile = (app: AppName) => `${APPS[app].databaseVariable}_FILE: /run/tocsin/${APPS[app].databaseVariable}`;
const passwordVariable = (app: AppName) => APPS[app].databaseVariable.replace(/_URL$/, '_PASSWORD');

function service(app: AppName): string {
  const { does, reaches, usesRedis } = APPS[app];
  const addresses = calledBy(app).map((other) => [
    APPS[other].addressVariable,
    `http://${other}:${internalPort(other)}`,
  ]);
  const variables = new Map(addresses as [string, string][]);
  const own = settingsOf(app).filter(
    (name) => !SHARED.test(name) && !variables.has(name) && name !== NOT_IN_PRODUCTION,
  );
  const isPublic = app === 'gateway';
  return [
    `# ${does}`,
    `${app}:`,
    '  <<: *app',
    `  image: tocsin/${app}`,
    `  build: { <<: *build, target: ${app} }`,
    ...(reaches === undefined ? [] : [`  # For ${reaches}.`]),
    ...(isPublic || reaches !== undefined ? ['  networks: [inside, outside]'] : []),
    ...(isPublic
      ? [
          '  # Several gateways need a range of ports, and a load balancer in front of them.',
          "  ports: ['${PORT:-8080}:8080']",
        ]
      : []),
    `  volumes: ['${app}-secrets:/run/tocsin:ro']`,
    '  environment:',
    `    <<: [*environment${usesRedis ? ', *redis' : ''}]`,
    `    ${databaseFile(app)}`,
    ...[...variables].map(([name, value]) => `    ${name}: ${value}`),
    ...own.map((name) => `    ${name}: \${${name}:-}`),
    '',
  ].join('\n');
}

export const composeFile = fileWithBlocks('docker-compose.yml', {
  'the databases of all apps': () => `x-databases: &databases\n${forEachApp((app) => `  ${databaseFile(app)}`)}`,
  'the apps': () => forEachApp(service),
  'the folders of the apps': () => forEachApp((app) => `- ${app}-secrets:/secrets/${app}`),
  'the passwords of the apps': () => forEachApp((app) => `${passwordVariable(app)}: \${${passwordVariable(app)}:-}`),
  'the volumes of the apps': () => forEachApp((app) => `${app}-secrets:`),
});

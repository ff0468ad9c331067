import { createHash } from 'node:crypto';
import { APP_NAMES, type AppName, APPS, passwordVariables } from '../installation/apps.ts';
import { brokerDefinitions } from '../installation/broker-definitions.ts';
import { calledBy, internalPort, settingsOf, startCommand } from './app-settings.ts';
import { fileWithBlocks } from './blocks.ts';

/** What every app gets: from `x-environment` of the file, from its image or from its own address. */
const SHARED =
  /^(?:NODE_ENV|LOG_LEVEL|(?:INTERNAL_)?(?:HOST|PORT)|DRAIN_SECONDS|TOCSIN_.+|(?:\w+_)?DATABASE_URL|DATABASE_.+|MAX_BODY_BYTES|IDEMPOTENCY_RETENTION_HOURS|INBOX_RETENTION_DAYS|AMQP_URL|REDIS_URL|\w+_FILE)$/;
/** Receivers on loopback addresses are refused in production; what is in lower case also has a name in upper case. */
const OMITTED = /^(?:WEBHOOK_TEST_RECEIVERS|[a-z_]+)$/;

const forEachApp = (text: (app: AppName) => string) => APP_NAMES.map(text).join('\n');
const databaseFile = (app: AppName) => `${APPS[app].databaseVariable}_FILE: /run/tocsin/${APPS[app].databaseVariable}`;

function service(app: AppName): string {
  const { does, reaches, usesRedis } = APPS[app];
  const addresses = calledBy(app).map((other) => [
    APPS[other].addressVariable,
    `http://${other}:${internalPort(other)}`,
  ]);
  const variables = new Map(addresses as [string, string][]);
  const settingNames = settingsOf(app).filter(
    (name) => !SHARED.test(name) && !variables.has(name) && !OMITTED.test(name),
  );
  const isPublic = app === 'gateway';
  return [
    `# ${does}`,
    `${app}:`,
    '  <<: *app',
    `  command: ${startCommand(app)}`,
    ...(reaches === undefined ? [] : [`  # For ${reaches}.`]),
    ...(isPublic || reaches !== undefined ? ['  networks: [inside, outside]'] : []),
    ...(isPublic
      ? [
          '  # Several gateways need a range of ports, and a load balancer in front of them.',
          "  ports: ['${PUBLISH_ADDRESS:-127.0.0.1}:${PORT:-8080}:8080']",
        ]
      : []),
    `  volumes: ['${app}-secrets:/run/tocsin:ro']`,
    '  environment:',
    `    <<: [*environment${usesRedis ? ', *redis' : ''}]`,
    `    ${databaseFile(app)}`,
    ...[...variables].map(([name, value]) => `    ${name}: ${value}`),
    ...settingNames.map((name) => `    ${name}: \${${name}:-}`),
    '',
  ].join('\n');
}

const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

export const composeFile = fileWithBlocks('docker-compose.yml', {
  'the databases of all apps': () => `x-databases: &databases\n${forEachApp((app) => `  ${databaseFile(app)}`)}`,
  'the apps': () => forEachApp(service),
  'the addresses of all apps': () =>
    forEachApp((app) => `${APPS[app].addressVariable}: http://${app}:${internalPort(app)}`),
  'the folders of the apps': () => forEachApp((app) => `- ${app}-secrets:/secrets/${app}`),
  'the passwords of the apps': () =>
    forEachApp((app) =>
      Object.values(passwordVariables(app))
        .map((variable) => `${variable}: \${${variable}:-}`)
        .join('\n'),
    ),
  'the version of the definitions': () => `tocsin.definitions: '${digest(brokerDefinitions('tocsin'))}'`,
  'the volumes of the apps': () => forEachApp((app) => `${app}-secrets:`),
});

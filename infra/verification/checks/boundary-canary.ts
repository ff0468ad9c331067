import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../../installation/environment.ts';

/** What the files of the canary import, each with the rules that it violates. */
const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  'gateway/console/src/ui/table.tsx': ['../main.tsx', '../../../src/store/sessions.ts'], // console-rooms-below-its-start, console-uses-the-api-alone
  'gateway/console/src/main.tsx': [],
  'gateway/src/main.ts': ['./store/sessions.ts', '../console/src/main.tsx'], // layer-main, console-by-itself
  'gateway/src/orphan.ts': [], // no-orphan
  'gateway/src/store/forgotten.ts': ['./sessions.ts'], // no-dead-file
  'gateway/src/store/sessions.ts': ['./gone.ts'], // no-unresolvable
  'infra/admin/main.ts': ['../verification/compat/main.ts'], // infra-in-the-image
  'infra/demo/main.ts': ['../embedded/main.ts'], // room-order, room-story
  'infra/embedded/main.ts': ['../../services/alpha/src/store/things.ts'], // infra-entry-points-only
  'infra/embedded/test/helper.ts': [],
  'infra/verification/bench/main.ts': ['../compat/main.ts'], // verification-side-by-side
  'infra/verification/compat/main.ts': ['../systems/system.ts'],
  'infra/verification/systems/system.ts': ['../test/helper.ts'], // verification-tools-below, no-import-of-tests
  'infra/verification/test/helper.ts': [],
  'services/alpha/src/administration.ts': ['./http/routes.ts'], // layer-administration
  'services/alpha/src/app.ts': ['./administration.ts', './config.ts'], // layer-app
  'services/alpha/src/clients/beta.ts': ['../store/things.ts'], // layer-clients
  'services/alpha/src/clients/gamma.ts': ['oxfmt'], // no-undeclared-package
  'services/alpha/src/config.ts': ['./store/things.ts'], // layer-config
  'services/alpha/src/description.ts': ['./config.ts'], // layer-description
  'services/alpha/src/domain/thing.ts': ['knex', '../store/things.ts'], // pure-domain, layer-domain
  'services/alpha/src/http/routes.ts': ['../messaging/on-thing.ts', '../usecases/do-thing.ts'], // layer-http
  'services/alpha/src/http/view.ts': [],
  'services/alpha/src/main.ts': ['./app.ts'],
  'services/alpha/src/messaging/on-thing.ts': ['../http/view.ts'], // layer-messaging
  'services/alpha/src/schema.ts': ['./config.ts'], // layer-schema
  'services/alpha/src/store/things.ts': ['../clients/gamma.ts'], // layer-store
  'services/alpha/src/usecases/do-thing.ts': ['../clients/beta.ts', '../domain/thing.ts', '../http/view.ts'], // layer-usecases
  'services/beta/src/main.ts': ['../../alpha/src/domain/thing.ts', '../test/helper.ts'], // no-other-app, no-import-of-tests
  'services/beta/test/helper.ts': ['../../../shared/testing/src/index.ts', '../../../infra/embedded/test/helper.ts'], // by-package-name, tests-side-by-side
  'services/incident/src/chat/names.ts': [],
  'services/incident/src/incidents/open.ts': ['../chat/names.ts'], // room-order
  'shared/schemas/src/index.ts': ['express', '../../runtime/src/index.ts'], // schemas-on-zod-alone, package-schemas
  'shared/events-client/src/index.ts': ['express', '../../schemas/src/index.ts'], // events-client-on-amqplib-alone, package-events-client
  'shared/http/src/index.ts': ['../../messaging/src/index.ts'], // package-http
  'shared/messaging/src/index.ts': ['../../http/src/index.ts'], // package-messaging, no-cycle
  'shared/versioned-resources/src/index.ts': ['../../testing/src/index.ts'], // package-versioned-resources
  'shared/postgres/src/index.ts': ['../../testing/src/index.ts'], // package-postgres, no-test-tools-in-production
  'shared/runtime/src/index.ts': ['../../../infra/embedded/main.ts'], // no-import-of-infra, package-runtime
  'shared/safe-http/src/index.ts': ['../../testing/src/index.ts'], // package-safe-http
  'shared/sdk/src/index.ts': ['node:fs', '../../schemas/src/index.ts'], // sdk-on-nothing, package-sdk
  'shared/service-host/src/index.ts': ['../../testing/src/index.ts'], // package-service-host
  'shared/testing/src/index.ts': ['../../../services/alpha/src/config.ts'], // package-testing
  'shared/tracing/src/index.ts': ['../../testing/src/index.ts'], // package-tracing
};

/** Writes the canary, a small tree that violates each boundary rule at least once, and removes it after `inspect`. */
export async function withCanary<Result>(inspect: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'tocsin-canary-')));
  try {
    await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
    for (const [file, imports] of Object.entries(IMPORTS)) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), imports.map((name) => `import '${name}';\n`).join(''));
    }
    return await inspect(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App, Environment } from '@tocsin/runtime';
import type * as Apps from '../../installation/apps.ts';
import type * as ChildEnvironment from '../../processes/child-environment.ts';
import type * as SupervisedApp from '../../processes/supervised-app.ts';

/** By these variables, `npm run compat` has tests run some apps from the sources of another work tree. */
export const OTHER_TREE = 'TOCSIN_TEST_OTHER_TREE';
export const OTHER_APPS = 'TOCSIN_TEST_OTHER_APPS';

export interface OtherTree {
  /** The migrations are its own for all apps. */
  apps: typeof Apps.APPS;
  has(app: Apps.AppName): boolean;
  /** Starts an app as a process. @param ca certificates of receivers to trust */
  start(app: Apps.AppName, env: Environment, ca: string): Promise<App & { internalUrl: string }>;
}

export async function otherTree(): Promise<OtherTree | undefined> {
  const root = process.env[OTHER_TREE];
  if (root === undefined) return undefined;
  const names = (process.env[OTHER_APPS] ?? '').split(',');
  const load = async (file: string): Promise<unknown> => import(pathToFileURL(path.join(root, 'infra', file)).href);
  const { APPS: apps } = (await load('installation/apps.ts')) as typeof Apps;
  const { childEnvironment } = (await load('processes/child-environment.ts')) as typeof ChildEnvironment;
  const { superviseApp } = (await load('processes/supervised-app.ts')) as typeof SupervisedApp;
  return {
    apps,
    has: (app) => names.includes(app),
    start: async (name, env, ca) => {
      const { PATH, HOME } = process.env;
      const folder = await mkdtempDisposable(path.join(tmpdir(), 'tocsin-other-'));
      const certificates = path.join(folder.path, 'receivers.pem');
      await writeFile(certificates, ca);
      const settings = childEnvironment(name, { ...env, PATH, HOME, NODE_EXTRA_CA_CERTS: certificates });
      const app = await superviseApp({ name, env: settings, print: () => undefined, sharesOutput: false });
      const stop = async () => {
        await app.stop();
        await folder.remove();
      };
      return { url: app.url, internalUrl: env[apps[name].addressVariable] ?? app.url, stop };
    },
  };
}

import type { Environment } from '@tocsin/runtime';

/** The slug of the sample workspace. */
export const DEMO_WORKSPACE = 'acme';

/**
 * The environment in which hosts without a workspace (`localhost`, IP addresses) are those of the sample workspace: its
 * own host, `acme.localhost`, does not resolve everywhere. `DEFAULT_WORKSPACE` names another one.
 */
export const withDefaultWorkspace = (env: Environment): Environment => ({
  ...env,
  DEFAULT_WORKSPACE: env['DEFAULT_WORKSPACE'] === '' ? DEMO_WORKSPACE : (env['DEFAULT_WORKSPACE'] ?? DEMO_WORKSPACE),
});

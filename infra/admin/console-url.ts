import type { Environment } from '@tocsin/runtime';

/** The address of a workspace, as the gateway with these settings is reached. */
export function consoleUrl(env: Environment, slug: string): string {
  const { BASE_DOMAIN: baseDomain = 'localhost', PORT: port = '8080', DEFAULT_WORKSPACE: defaultWorkspace } = env;
  const isLocal = baseDomain === 'localhost' || baseDomain.endsWith('.localhost');
  if (!isLocal) return `https://${slug}.${baseDomain}`;
  return slug === defaultWorkspace ? `http://localhost:${port}` : `http://${slug}.${baseDomain}:${port}`;
}

/** Browsers send no fragment, so the token is in no log and in no request that somebody previews. */
export const loginUrl = (address: string, token: string): string => `${address}/app/sign-in#${token}`;

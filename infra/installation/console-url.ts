import { type Environment, readConfig, setting, workspaceUrl } from '@tocsin/runtime';
import { z } from 'zod';

const settings = {
  PUBLIC_URL: setting.publicUrl.optional(),
  BASE_DOMAIN: z.string().default('localhost'),
  PORT: z.string().default('8080'),
  DEFAULT_WORKSPACE: z.string().optional(),
};

/** The address of a workspace, as the gateway with these settings is reached. @throws ConfigError */
export function consoleUrl(env: Environment, slug: string): string {
  const read = readConfig(settings, env);
  const { PUBLIC_URL: url, BASE_DOMAIN: baseDomain, PORT: port, DEFAULT_WORKSPACE: defaultWorkspace } = read;
  if (url !== undefined) return workspaceUrl(url, slug);
  const isLocal = baseDomain === 'localhost' || baseDomain.endsWith('.localhost');
  if (!isLocal) return `https://${slug}.${baseDomain}`;
  return slug === defaultWorkspace ? `http://localhost:${port}` : `http://${slug}.${baseDomain}:${port}`;
}

/** Browsers send no fragment, so the token is in no log and in no request that somebody previews. */
export const loginUrl = (address: string, token: string): string => `${address}/app/sign-in#${token}`;

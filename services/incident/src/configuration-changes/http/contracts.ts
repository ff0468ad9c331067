import { type Contracts, endpoint, type Handlers } from '@tocsin/http';
import { configurationReply, newConfiguration } from './wire.ts';

const PATH = '/api/v1/settings/configuration';
const reply = { status: 200, body: configurationReply, versioned: true } as const;

/** contract: Configuration */
export const configurationChangeContracts = {
  getConfiguration: {
    ...endpoint('GET', PATH, 'Get the configuration'),
    tag: 'Configuration',
    scope: 'configuration:read',
    reply,
  },
  replaceConfiguration: {
    ...endpoint('PUT', PATH, 'Replace the configuration'),
    tag: 'Configuration',
    scope: 'configuration:write',
    needs: ['manage_settings'],
    precondition: true,
    body: newConfiguration,
    errors: ['invalid_resource_state'],
    deadline: 30_000,
    cost: { base: 10 },
    reply: { ...reply, assigned: ['configuration.timeline_groups[].id'] },
  },
} as const satisfies Contracts;

export type ConfigurationChangeApi = Handlers<typeof configurationChangeContracts>;

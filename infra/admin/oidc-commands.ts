import { type Command, workspaceFlag } from './command.ts';
import { consoleUrl } from './console-url.ts';
import { readSecret, secretFlags } from './read-input.ts';

export const oidcCommands: readonly Command[] = [
  {
    name: 'oidc connect',
    summary: 'Let people sign in to the console by an OpenID Connect provider, or change it',
    flags: {
      workspace: workspaceFlag,
      issuer: { value: 'URL', help: 'the https URL of the provider', required: true },
      'client-id': { value: 'ID', help: 'the ID of the client at the provider', required: true },
      ...secretFlags('client-secret', 'secret', "the client's"),
      'create-viewers': { help: 'make viewers of people who have no user; otherwise they are refused' },
    },
    run: async (values, { gateway, env, secretKeys }) => {
      const slug = values.required('workspace');
      const { issuer, clientId, createsViewers } = await gateway.connectOidc({
        workspace: slug,
        issuer: values.required('issuer'),
        clientId: values.required('client-id'),
        clientSecret: await readSecret(values, 'oidc connect', 'client-secret'),
        createsViewers: values.flag('create-viewers') ?? false,
        secretKeys: secretKeys(),
      });
      return {
        oidc: {
          ...{ workspace: slug, connected: true, issuer, client_id: clientId, create_viewers: createsViewers },
          redirect_uri: `${consoleUrl(env, slug)}/app/oidc/callback`,
        },
      };
    },
  },
  {
    name: 'oidc disconnect',
    summary: 'Let nobody sign in by the provider any longer; sessions stay',
    flags: { workspace: workspaceFlag },
    run: async (values, { gateway }) => {
      const slug = values.required('workspace');
      await gateway.disconnectOidc(slug);
      return { oidc: { workspace: slug, connected: false } };
    },
  },
];

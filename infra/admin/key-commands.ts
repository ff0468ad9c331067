import { SCOPES } from '@tocsin/http';
import type { Command } from './command.ts';
import { UsageError } from './target.ts';
import { keyView } from './views.ts';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Create an API key and print its token; the token is shown only once',
    flags: {
      workspace: { type: 'string', value: 'SLUG', help: 'the workspace', required: true },
      user: { type: 'string', value: 'EMAIL', help: 'the user that the key acts for', required: true },
      name: { type: 'string', value: 'NAME', help: 'the purpose of the key', required: true },
      scope: { type: 'string', value: 'SCOPE', help: `may be repeated: ${SCOPES.join(', ')}`, multiple: true },
      'all-scopes': { type: 'boolean', help: 'all scopes' },
      expires: {
        type: 'string',
        value: 'TIME',
        help: 'when the key expires, such as 2030-01-31T12:00:00Z; never by default',
      },
    },
    run: async (values, { gateway }) => {
      const scopes = values.flag('all-scopes') === true ? SCOPES : values.texts('scope');
      if (scopes.length === 0) throw new UsageError('key create: name at least one --scope, or --all-scopes');
      const { key, token } = await gateway.createKey({
        workspace: values.required('workspace'),
        user: values.required('user'),
        name: values.required('name'),
        scopes,
        expires: values.text('expires'),
      });
      return { key: keyView(key), token };
    },
  },
  {
    name: 'key revoke',
    summary: 'Revoke an API key permanently',
    flags: { id: { type: 'string', value: 'N', help: "the key's ID", required: true } },
    run: async (values, { gateway }) => {
      const id = Number(values.required('id'));
      if (!Number.isSafeInteger(id) || id < 1) throw new UsageError('--id: must be an integer of at least 1');
      return { key: keyView(await gateway.revokeKey(id)) };
    },
  },
];

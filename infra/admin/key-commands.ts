import { SCOPES } from '@tocsin/http';
import type { Command } from './command.ts';
import { UsageError } from './usage-error.ts';
import { keyView } from './views.ts';

export const keyCommands: readonly Command[] = [
  {
    name: 'key create',
    summary: 'Make an API key and print its token, this once',
    flags: {
      workspace: { type: 'string', value: 'SLUG', help: 'the workspace', required: true },
      user: { type: 'string', value: 'EMAIL', help: 'whom the key acts for', required: true },
      name: { type: 'string', value: 'NAME', help: 'what it is for', required: true },
      scope: { type: 'string', value: 'SCOPE', help: `may be repeated: ${SCOPES.join(', ')}`, multiple: true },
      'all-scopes': { type: 'boolean', help: 'every scope there is' },
      expires: {
        type: 'string',
        value: 'TIME',
        help: 'when it becomes invalid, as 2030-01-31T12:00:00Z; never unless set',
      },
    },
    run: async (given, { gateway }) => {
      const scopes = given.flag('all-scopes') === true ? SCOPES : given.texts('scope');
      if (scopes.length === 0) throw new UsageError('key create: name at least one --scope, or --all-scopes');
      const { key, token } = await gateway.createKey({
        workspace: given.required('workspace'),
        user: given.required('user'),
        name: given.required('name'),
        scopes,
        expires: given.text('expires'),
      });
      return { key: keyView(key), token };
    },
  },
  {
    name: 'key revoke',
    summary: 'Make an API key invalid for good',
    flags: { id: { type: 'string', value: 'N', help: "the key's ID", required: true } },
    run: async (given, { gateway }) => {
      const id = Number(given.required('id'));
      if (!Number.isSafeInteger(id) || id < 1) throw new UsageError('--id: must be an integer of at least 1');
      return { key: keyView(await gateway.revokeKey(id)) };
    },
  },
];

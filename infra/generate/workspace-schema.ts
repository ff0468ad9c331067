import { z } from 'zod';
import { workspaceDocument } from '../cli/src/workspace/document.ts';
import { jsonText } from './formatted.ts';

/** The JSON schema of the files of `tocsin plan`, for editors. Theirs read draft 7. */
export const workspaceSchemaFile = {
  file: 'infra/cli/schema/workspace.schema.json',
  generate: async () =>
    jsonText({
      title: 'A workspace of Tocsin',
      ...z.toJSONSchema(workspaceDocument, { target: 'draft-7', io: 'input' }),
    }),
};

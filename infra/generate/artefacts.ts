import type { Artefact } from './artefact.ts';
import { asyncApiArtefact, exampleArtefacts } from './asyncapi.ts';
import { openApiArtefact } from './openapi.ts';

/** Everything that `npm run generate` writes and `npm run check:generated` compares. */
export const ARTEFACTS: readonly Artefact[] = [
  ...['catalog', 'custom-field', 'incident', 'webhook'].map(openApiArtefact),
  asyncApiArtefact,
  ...exampleArtefacts,
];

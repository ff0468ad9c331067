import type { QuotaName } from '@tocsin/schemas';
import { DomainError } from './errors.ts';

/**
 * The workspace has used up a quota. Like every limit on the number of resources, it is a state of the workspace: 409.
 * @param subject what the quota limits, as a sentence ends: "at most 5000 active teams"
 * @param field makes it 400, naming the field, for a quota that counts as a limit of the request
 */
export function quotaExceeded(name: QuotaName, subject: string, field?: string): DomainError {
  const message = `The workspace may have ${subject} (quota ${name}); an administrator of the installation can change the quota`;
  const code = field === undefined ? 'invalid_resource_state' : 'invalid_request';
  return new DomainError(code, message, { field, reason: `quota_${name}` });
}

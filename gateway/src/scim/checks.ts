import { isBlank } from '@tocsin/schemas';
import { checkText, DomainError, invalidRequest } from '@tocsin/http';
import type { Condition } from '../accounts/domain/directory.ts';

/** As long as the name of a group in a mapping may be. */
const MAX_LENGTH = 512;

/**
 * Checks the names that a directory gives to a user or a group, which no other one of the workspace may have.
 * @param options.id undefined: of a new one; `find` returns those that meet a condition
 * @throws DomainError `invalid_request`, `invalid_resource_state`
 */
export async function checkNames(
  names: Partial<Record<Condition['name'], string | null>>,
  options: { id: number | undefined; find: (conditions: Condition[]) => Promise<{ id: number }[]> },
): Promise<void> {
  for (const [field, value] of Object.entries(names) as [Condition['name'], string | null][]) {
    if (value === null) continue;
    checkText(value, field);
    if (isBlank(value) || value.length > MAX_LENGTH)
      throw invalidRequest(field, `Must have 1 to ${MAX_LENGTH} characters, and show something`);
    const other = (await options.find([{ name: field, value }])).find(({ id }) => id !== options.id);
    if (other === undefined) continue;
    const details = { existing_id: other.id };
    throw new DomainError('invalid_resource_state', `Another one has this ${field}`, { field, details });
  }
}

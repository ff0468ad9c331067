import { isBlank } from '@tocsin/schemas';
import { checkText, DomainError, invalidRequest } from '@tocsin/http';

/** As long as the name of a group in a mapping may be. */
const MAX_LENGTH = 512;

/** Returns a name that a directory has given, as it is. */
export function checkName(name: string, field: string): string {
  checkText(name, field);
  if (isBlank(name) || name.length > MAX_LENGTH)
    throw invalidRequest(field, `Must have 1 to ${MAX_LENGTH} characters, and show something`);
  return name;
}

/** @throws DomainError `invalid_resource_state` if another one than that with the ID has the name */
export function checkUnique(
  rows: readonly { id: number }[],
  { id, field }: { id: number | undefined; field: string },
): void {
  const other = rows.find((row) => row.id !== id);
  if (other === undefined) return;
  throw new DomainError('invalid_resource_state', `Another one has this ${field}`, {
    field,
    details: { existing_id: other.id },
  });
}

import type { z } from 'zod';
import { DomainError, type ErrorCode, invalidRequest } from '../errors/errors.ts';
import { isMismatch, validationMessage } from '../errors/messages.ts';

type Issue = z.core.$ZodIssue;

/**
 * Validates input by its schema. Of several errors, an unknown property is reported first: it is the likeliest cause of
 * the others.
 * @throws DomainError `unknown_field` or `code`, with the dotted path as `field`
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  code: ErrorCode = 'invalid_request',
): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: validationMessage });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error.issues, code);
}

/** Validates a query string. `field` is the parameter's name, whichever of its values is invalid. */
export function validateQuery<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: validationMessage });
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues.flatMap(issuesOfBranch);
  throw invalidRequest(String(first?.path[0] ?? ''), first?.message ?? 'The query is invalid');
}

function validationError(issues: readonly Issue[], code: ErrorCode): DomainError {
  const all = issues.flatMap(issuesOfBranch);
  const unknown = all.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const field = dotted([...unknown.path, unknown.keys[0] ?? '']);
    return new DomainError('unknown_field', unknown.message, { field });
  }
  const [first] = all;
  if (first === undefined) return new DomainError(code, 'The input is invalid');
  return new DomainError(code, first.message, { field: dotted(first.path) });
}

/**
 * For a union, returns the issues of the branch that the value was meant for: the first one whose type it has; for the name
 * of a member, those of the name.
 */
function issuesOfBranch(issue: Issue): Issue[] {
  if (issue.code === 'invalid_key') return issue.issues.map((inner) => ({ ...inner, path: issue.path }));
  if (issue.code !== 'invalid_union') return [issue];
  const branch = issue.errors.find((issues) => !issues.some(isMismatch));
  if (branch === undefined) return [issue];
  return branch.flatMap(issuesOfBranch).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

const dotted = (path: readonly PropertyKey[]) => path.map(String).join('.');

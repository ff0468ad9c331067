import type { z } from 'zod';
import { DomainError, type ErrorCode, invalidRequest } from './errors.ts';

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
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error.issues, code);
}

/** Validates a query string. `field` is the parameter's name, whichever of its values is invalid. */
export function validateQuery<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw invalidRequest(String(first?.path[0] ?? ''), first?.message ?? 'The query is invalid');
}

function validationError(issues: readonly Issue[], code: ErrorCode): DomainError {
  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown !== undefined) {
    const field = dotted([...unknown.path, unknown.keys[0] ?? '']);
    return new DomainError('unknown_field', `Unknown property ${field}`, { field });
  }
  const [first] = issues;
  if (first === undefined) return new DomainError(code, 'The input is invalid');
  const { path, message } = deepest(first);
  return new DomainError(code, message, { field: dotted(path) });
}

/** For a union, returns the issue of the branch that matched deepest: it describes the error best. */
function deepest(issue: Issue): Pick<Issue, 'path' | 'message'> {
  if (issue.code !== 'invalid_union') return issue;
  const [inner] = issue.errors
    .flat()
    .map(deepest)
    .toSorted((a, b) => b.path.length - a.path.length);
  if (inner === undefined || inner.path.length === 0) return issue;
  return { path: [...issue.path, ...inner.path], message: inner.message };
}

const dotted = (path: readonly PropertyKey[]) => path.map(String).join('.');

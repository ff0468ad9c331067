import { DomainError } from '@tocsin/http';

/** The keywords of RFC 7644, section 3.12, that requests are refused with. */
export type ScimType =
  | 'uniqueness'
  | 'invalidFilter'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue';

/** A refusal with its keyword. */
export const scimFault = (scimType: ScimType, message: string) =>
  new DomainError('invalid_request', message, { details: { scim_type: scimType } });

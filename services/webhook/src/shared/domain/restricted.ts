import { checkAccess } from '@tocsin/http';
import type { Principal } from '@tocsin/schemas';

/** Who asks, as far as restricted incidents are concerned. */
export type Caller = Pick<Principal, 'scopes' | 'seat' | 'permissions'>;

const ACCESS = { scope: 'restricted:read', needs: ['view_restricted'] } as const;

/** Whether a caller may know of restricted incidents that are not its own. */
export const seesRestricted = ({ scopes, permissions }: Pick<Caller, 'scopes' | 'permissions'>): boolean =>
  scopes.includes(ACCESS.scope) && ACCESS.needs.every((permission) => permissions.includes(permission));

/** @throws DomainError `missing_scope` or `missing_role_permission` if the caller may not know of them */
export const checkSeesRestricted = (caller: Caller): void => checkAccess(caller, ACCESS);

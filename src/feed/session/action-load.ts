import { areOfOneTenant, tenantOf } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';
import { load } from './load.ts';

/** An action; those of another tenant are missing. */
export const ACTION = load({
  async batch({ actions, actionCache }, ids, request) {
    if (request === undefined) return actions.findByIds(ids);
    const { identity } = request;
    const found = await (seesFanOut(identity) ? actions : actionCache).findByIds(ids);
    if (tenantOf(identity.userId) === null) return found;
    return found.filter(({ actorId }) => areOfOneTenant(actorId, identity.userId));
  },
  key: ({ id }) => id,
});

/** Roles that see the progress of deliveries, which is never cached. */
export function seesFanOut({ roles }: Identity): boolean {
  return roles.has('admin') || roles.has('service');
}

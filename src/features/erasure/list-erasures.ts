import type { Core } from '../core.ts';
import { decodeCursor, encodeCursor } from '../../domain/cursor.ts';
import { FanfareError } from '../../domain/errors.ts';
import type { Erasure } from '../../domain/erasure.ts';
import { idBeside, tenantOf } from '../../domain/tenant.ts';
import type { Identity } from '../../domain/viewer.ts';
import type { ErasurePlace, ListedErasure } from './store/erasures.ts';
import { collectPage, pageSize } from '../../feed/page/paging.ts';
import { requireRole } from '../validate.ts';
import type { Page, PageArgs } from '../shapes.ts';

const LIST = 'erasures';
const KEY_BYTES = 32;
const PLACE_BYTES = 8 + KEY_BYTES;

/** Erasures, most recently requested first. @throws FORBIDDEN, BAD_USER_INPUT, BAD_CURSOR */
export async function listErasures(
  { erasureList }: Core,
  identity: Identity,
  args: PageArgs,
): Promise<Page<Erasure>> {
  requireRole(identity, 'admin');
  const list = idBeside(identity.userId, LIST);
  return collectPage<ErasurePlace, ListedErasure, ListedErasure>({
    size: pageSize(args.first),
    after: args.after == null ? null : decodePlace(list, args.after),
    scan: (after, limit) => erasureList.read(tenantOf(identity.userId), after, limit),
    select: (erasures) => Promise.resolve(erasures),
    cursorOf: (place) => encodePlace(list, place),
  });
}

function encodePlace(list: string, { startedAt, key }: ErasurePlace): string {
  const payload = Buffer.alloc(PLACE_BYTES);
  payload.writeDoubleBE(startedAt.getTime(), 0);
  payload.write(key, 8, KEY_BYTES, 'hex');
  return encodeCursor(list, payload);
}

function decodePlace(list: string, cursor: string): ErasurePlace {
  const payload = decodeCursor(list, cursor);
  if (payload.length !== PLACE_BYTES)
    throw new FanfareError('BAD_CURSOR', 'The cursor does not belong to this list');
  return { startedAt: new Date(payload.readDoubleBE(0)), key: payload.toString('hex', 8) };
}

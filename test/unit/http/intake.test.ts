import { describe, expect, test } from 'vitest';
import type { Role } from '../../../src/domain/viewer.ts';
import type { Caller } from '../../../src/http/identity/auth.ts';
import { Intake, maxBodyOf } from '../../../src/http/limits/intake.ts';

const KIB = 1_024;
const LIMITS = {
  maxBodyBytes: 1_000 * KIB,
  maxUserBodyBytes: 100 * KIB,
  maxAnonymousBodyBytes: 10 * KIB,
  maxBodyBytesUnderWay: 1_600 * KIB,
};

function caller(userId: string | null, ...roles: Role[]): Caller {
  const identity = userId === null ? null : { userId, roles: new Set(roles), expiresAt: null };
  return { identity, address: '127.0.0.1', transport: 'http' };
}

const SERVICE = caller('importer', 'service');

test('limits each body by the role of its sender', () => {
  expect(maxBodyOf(caller(null), LIMITS)).toBe(10 * KIB);
  expect(maxBodyOf(caller('ann', 'user'), LIMITS)).toBe(100 * KIB);
  expect(maxBodyOf(SERVICE, LIMITS)).toBe(1_000 * KIB);
  expect(maxBodyOf(caller('root', 'user', 'admin'), LIMITS)).toBe(1_000 * KIB);
  expect(maxBodyOf(caller('ann', 'user'), { ...LIMITS, maxBodyBytes: KIB })).toBe(KIB);
});

describe('bodies in flight', () => {
  test('count their first 16 KiB separately', () => {
    const intake = new Intake(LIMITS);
    using body = intake.open(SERVICE);
    expect(body.resize(16 * KIB)).toBeNull();
    expect(intake.bytes).toBe(0);
    expect(body.resize(17 * KIB)).toBeNull();
    expect(intake.bytes).toBe(KIB);
  });

  test('count with their current size until they are disposed', () => {
    const intake = new Intake(LIMITS);
    const body = intake.open(SERVICE);
    for (const size of [20, 100, 1_000]) expect(body.resize(size * KIB)).toBeNull();
    expect(intake.bytes).toBe(984 * KIB);
    body[Symbol.dispose]();
    body[Symbol.dispose]();
    expect(intake.bytes).toBe(0);
  });

  test('are rejected if the total would be too large, and count until then', () => {
    const intake = new Intake(LIMITS);
    using first = intake.open(SERVICE);
    using second = intake.open(SERVICE);
    expect(first.resize(1_000 * KIB)).toBeNull();
    expect(second.resize(600 * KIB)).toBeNull();
    expect(second.resize(633 * KIB)).toMatchObject({ extensions: { code: 'UNAVAILABLE' } });
    expect(intake.bytes).toBe((984 + 584) * KIB);
    first[Symbol.dispose]();
    expect(second.resize(633 * KIB)).toBeNull();
  });

  test('leave each user an eighth of the total', () => {
    const intake = new Intake(LIMITS);
    using first = intake.open(caller('ann', 'user'));
    using second = intake.open(caller('ann', 'user'));
    using third = intake.open(caller('ann', 'user'));
    using other = intake.open(caller('bob', 'user'));
    expect(first.resize(100 * KIB)).toBeNull();
    expect(second.resize(100 * KIB)).toBeNull();
    expect(third.resize(100 * KIB)).toMatchObject({ extensions: { code: 'RATE_LIMITED' } });
    expect(third.resize(16 * KIB)).toBeNull();
    expect(other.resize(100 * KIB)).toBeNull();
    first[Symbol.dispose]();
    expect(third.resize(100 * KIB)).toBeNull();
  });

  test('limit the first 16 KiB too, in total and per user, independently of large bodies', () => {
    const intake = new Intake(LIMITS);
    const open = (of: Caller) => {
      const body = intake.open(of);
      return { body, refusal: body.resize(16 * KIB) };
    };
    const ofAnn = Array.from({ length: 128 }, () => open(caller('ann', 'user')));
    expect(ofAnn.every(({ refusal }) => refusal === null)).toBe(true);
    expect(open(caller('ann', 'user')).refusal).toMatchObject({ extensions: { code: 'RATE_LIMITED' } });
    const others = Array.from({ length: 1_024 - 128 }, () => open(SERVICE));
    expect(others.every(({ refusal }) => refusal === null)).toBe(true);
    expect(open(SERVICE).refusal).toMatchObject({ extensions: { code: 'UNAVAILABLE' } });
    expect(others[0]?.body.resize(1_000 * KIB)).toBeNull();
    for (const { body } of [...ofAnn, ...others]) body[Symbol.dispose]();
    expect([open(SERVICE).refusal, open(caller('ann', 'user')).refusal]).toEqual([null, null]);
  });

  test('allow a user one body of the largest size, however small the total is', () => {
    const intake = new Intake({ ...LIMITS, maxBodyBytesUnderWay: 200 * KIB });
    using body = intake.open(caller('ann', 'user'));
    expect(body.resize(100 * KIB)).toBeNull();
  });
});

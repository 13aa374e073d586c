import { expect, test } from 'vitest';
import { ownCommand } from '../../../src/lib/package-info.ts';

test('commands use the full name of the package where it is installed, and the short one in a checkout', () => {
  expect(ownCommand('/home/ann/feed/node_modules/@fanfare/server')).toBe('npx @fanfare/server');
  expect(ownCommand('/home/ann/fanfare')).toBe('npx fanfare');
  // These tests run in a checkout.
  expect(ownCommand()).toBe('npx fanfare');
});

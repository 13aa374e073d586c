import { expect, test } from 'vitest';
import { ApiError } from '../../../src/cli/api-client.ts';
import { reasonFor, reportFailure } from '../../../src/cli/report-failure.ts';
import { FanfareError } from '../../../src/domain/errors.ts';
import { recordingTerminal } from '../../support/recording-terminal.ts';
import { SchemaTooNew, TenancyDiffers } from '../../../src/storage/database/schema-version.ts';

test.each([
  [new FanfareError('BAD_USER_INPUT', 'memberId: Too short'), 'memberId: Too short'],
  [new ApiError('FORBIDDEN', 'Requires the role admin', []), 'Requires the role admin'],
  [new TenancyDiffers('TENANT_CLAIM is set'), 'TENANT_CLAIM is set'],
  [new SchemaTooNew(9, 7), /^The database has schema version 9/],
  [
    new FanfareError('UNAVAILABLE', 'The database does not answer', { cause: new Error('Connection lost') }),
    'The database does not answer\nConnection lost',
  ],
])('a message for users is shown without the name of its class: %s', (error, shown) => {
  expect(reasonFor(error)).toEqual(
    typeof shown === 'string' ? shown : (expect.stringMatching(shown) as string),
  );
});

test('control characters quoted in an error do not reach the terminal', () => {
  const { terminal, stderr } = recordingTerminal();
  reportFailure(
    { env: {}, terminal },
    new ApiError('BAD_USER_INPUT', 'no "\u001b]0;x\u0007\u009b2J\u202e"', []),
  );
  expect(stderr.join('\n')).toBe(String.raw`no "\u001b]0;x\u0007\u009b2J\u202e"`);
});

test('other errors are shown with their name', () => {
  expect(reasonFor(new RangeError('Invalid array length'))).toBe('RangeError: Invalid array length');
});

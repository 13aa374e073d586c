import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  type BulkWriteResult,
} from 'mongodb';
import { describe, expect, it } from 'vitest';
import { isDatabaseUnavailable, isOutOfSpace } from '../../../src/storage/database/errors.ts';

/** A bulk write as the driver leaves it when `error` ended it. */
function bulk(error: Error | object, writeConcernError?: { readonly code: number }): MongoBulkWriteError {
  const result = { getWriteConcernError: () => writeConcernError } as unknown as BulkWriteResult;
  return new MongoBulkWriteError(error as ConstructorParameters<typeof MongoBulkWriteError>[0], result);
}

const answer = (code: number, errorLabels: string[] = []) =>
  new MongoServerError({ message: 'no', code, errorLabels });
/** The driver keeps this class to itself. */
class NoneFree extends MongoError {
  override get name(): string {
    return 'MongoWaitQueueTimeoutError';
  }
}

type Case = readonly [what: string, error: unknown];

const selection = new MongoServerSelectionError('none', {} as never);

describe('the database counts as unavailable', () => {
  it.each<Case>([
    ['nobody answers', selection],
    ['the connection was lost', new MongoNetworkError('lost')],
    ['the connection timed out', new MongoNetworkTimeoutError('slow')],
    ['the operation timed out', new MongoOperationTimeoutError('slow')],
    ['no connection was free', new NoneFree('slow')],
    ['the disk is full', answer(14_031)],
    ['it shuts down', answer(91)],
    ['it is no primary', answer(10_107)],
    ['a primary steps down', answer(189)],
    ['it has too much to do', answer(262)],
    ['a cursor of before its restart is unknown', answer(43)],
    ['it says that trying again may help', answer(8_000, ['RetryableWriteError'])],
    ['the connection was lost inside a bulk write', bulk(new MongoNetworkError('lost'))],
    ['it went inside a bulk write', bulk(answer(91))],
    ['the disk became full inside a bulk write', bulk({ message: 'no', writeErrors: [{ code: 14_031 }] })],
    ['a bulk write was not confirmed', bulk({ message: 'no' }, { code: 64 })],
  ])('when %s', (_what, error) => {
    expect(isDatabaseUnavailable(error)).toBe(true);
  });

  it.each<Case>([
    ['a duplicate key', answer(11_000)],
    ['a duplicate key in a bulk write', bulk({ message: 'no', writeErrors: [{ code: 11_000 }] })],
    ['a wrong command', answer(2)],
    ['a missing right', answer(13)],
    ['a fault of ours', new TypeError('undefined')],
    ['nothing', undefined],
  ])('but not for %s', (_what, error) => {
    expect(isDatabaseUnavailable(error)).toBe(false);
  });
});

describe('the database counts as full', () => {
  it('also if one of many writes reports it, but not for other outages', () => {
    expect(isOutOfSpace(answer(14_031))).toBe(true);
    expect(isOutOfSpace(bulk({ message: 'no', writeErrors: [{ code: 11_000 }, { code: 14_031 }] }))).toBe(
      true,
    );
    expect(isOutOfSpace(answer(91))).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { createLogger, silentLogger, type LoggerOptions } from '../../../src/telemetry/logger.ts';

function recorded(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const sink = { write: (line: string) => lines.push(line) };
  return { lines, logger: createLogger({ level: 'info', sink, ...options }) };
}

describe('createLogger', () => {
  it('writes one JSON object per line, with level, time, fields and message', () => {
    const { lines, logger } = recorded();
    logger.child({ worker: 'w1' }).warn({ attempt: 2 }, 'Again');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^[^\n]*\n$/);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
      worker: 'w1',
      attempt: 2,
      msg: 'Again',
    });
  });

  it('omits lines below its level', () => {
    const { lines, logger } = recorded({ level: 'warn' });
    logger.info({}, 'No');
    logger.error({}, 'Yes');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['Yes']);
    expect(() => {
      silentLogger().fatal({}, 'Nobody hears');
    }).not.toThrow();
  });

  it('keeps the message, stack and causes of an error', () => {
    const { lines, logger } = recorded();
    logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'Failed');
    const { err } = JSON.parse(lines[0] ?? '') as { err: { message: string; stack: string } };
    expect(err.message).toContain('outer');
    expect(err.stack).toMatch(/outer[^]*caused by: Error: inner/);
  });

  it.each([false, true])('removes secrets from fields, messages and errors (pretty: %s)', (isPretty) => {
    const { lines, logger } = recorded({ isPretty });
    logger.error(
      {
        headers: { authorization: 'Bearer s3cret' },
        connectionParams: { nested: { token: 's3cret' } },
        err: new Error('no route to mongodb://bob:s3cret@db'),
      },
      'Bearer s3cret.s3cret',
    );
    expect(lines.join('')).toContain('mongodb://bob:***@db');
    expect(lines.join('')).not.toContain('s3cret');
  });

  it('escapes control characters in lines for people', () => {
    const { lines, logger } = recorded({ isPretty: true });
    const given = 'a\u001b[2J\r\u009b1m\u202eb';
    logger.warn({ name: given, list: [given], err: new Error(`${given}\nERROR forged`) }, given);
    const plain = lines.join('').replaceAll(/\u001b\[[\d;]*m/g, '');
    expect(plain).not.toMatch(/[\u001b\r\u009b\u202e]/);
    expect(plain.split('a\\u001b[2J').length).toBe(5);
    expect(plain).toContain('\n  ERROR forged');
  });

  it('writes lines for people on request', () => {
    const { lines, logger } = recorded({ isPretty: true });
    logger.info({ url: 'http://x/', note: 'two words', err: new Error('why') }, 'Listening');
    const plain = lines.join('').replaceAll(/\u001b\[[\d;]*m/g, '');
    expect(plain).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}Listening url=http:\/\/x\/ note="two words"\n {2}Error: why\n {6}at /,
    );
  });
});

import { describe, expect, test } from 'vitest';
import { createStreamReader, type StreamMessage } from '../../src/event-stream.ts';

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('createStreamReader', () => {
  test.each<[string, string, StreamMessage[]]>([
    ['a message', 'event: next\ndata: {"a":1}\n\n', [{ event: 'next', data: '{"a":1}' }]],
    ['a message without spaces', 'event:next\ndata:x\n\n', [{ event: 'next', data: 'x' }]],
    ['only the first space as its own', 'data:  x\n\n', [{ event: '', data: ' x' }]],
    ['colons in data', 'data: a: b\n\n', [{ event: '', data: 'a: b' }]],
    ['data of several lines', 'data: a\ndata: b\n\n', [{ event: '', data: 'a\nb' }]],
    ['an empty data', 'event: complete\ndata:\n\n', [{ event: 'complete', data: '' }]],
    ['a field without a colon', 'event: complete\ndata\n\n', [{ event: 'complete', data: '' }]],
    ['pings as nothing', ':\n\n: still here\n\n', []],
    [
      'unknown fields as nothing',
      'id: 7\nretry: 1\nevent: next\ndata: x\n\n',
      [{ event: 'next', data: 'x' }],
    ],
    ['an unfinished message as nothing', 'event: next\ndata: x\n', []],
    [
      'several messages',
      'data: 1\n\ndata: 2\n\n',
      [
        { event: '', data: '1' },
        { event: '', data: '2' },
      ],
    ],
  ])('reads %s', (_what, text, messages) => {
    expect(createStreamReader()(encode(text))).toEqual(messages);
    expect(createStreamReader()(encode(text.replaceAll('\n', '\r\n')))).toEqual(messages);
    expect(createStreamReader()(encode(text.replaceAll('\n', '\r') + ':'))).toEqual(messages);
  });

  test.each(['\n', '\r\n'])('reads the same wherever the bytes are split, with %j', (lineBreak) => {
    const messages = [
      { event: 'next', data: '{"text":"größer – 🦊"}' },
      { event: 'complete', data: '' },
    ];
    const text = messages.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(':\n\n');
    const bytes = encode(text.replaceAll('\n', lineBreak));
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const read = createStreamReader();
      expect([...read(bytes.subarray(0, cut)), ...read(bytes.subarray(cut))]).toEqual(messages);
    }
    const read = createStreamReader();
    expect([...bytes].flatMap((byte) => read(Uint8Array.of(byte)))).toEqual(messages);
  });
});

export interface StreamMessage {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads text/event-stream: give it the bytes as they come, it gives the messages that they complete. Comments, which
 * servers send as pings, are none.
 */
export function createStreamReader(): (bytes: Uint8Array) => StreamMessage[] {
  const decoder = new TextDecoder();
  let rest = '';
  let event = '';
  let data: string[] = [];

  return (bytes) => {
    const messages: StreamMessage[] = [];
    const text = rest + decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line break.
    const held = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - held.length).split(/\r\n|\n|\r/);
    rest = (lines.pop() ?? '') + held;
    for (const line of lines) {
      if (line === '') {
        if (event !== '' || data.length > 0) messages.push({ event, data: data.join('\n') });
        event = '';
        data = [];
        continue;
      }
      const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (field === 'event') event = value;
      if (field === 'data') data.push(value);
    }
    return messages;
  };
}

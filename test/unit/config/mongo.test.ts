import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/config/config.ts';
import { readConfig } from '../../../src/config/read-config.ts';

const HOSTS = 'mongodb://user:secret@a.example:27017,b.example/db';

/** What is wrong with a URI; null: nothing. */
function faultOf(uri: string): string | null {
  try {
    readConfig({ MONGODB_URI: uri }, { feedModels: ['items'], settings: [] });
    return null;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.faults.map(({ name }) => name)).toEqual(['MONGODB_URI']);
    return error.faults[0]?.message ?? null;
  }
}

describe('MONGODB_URI', () => {
  it.each(['primaryPreferred', 'secondary', 'secondaryPreferred', 'nearest'])(
    'rejects reads from %s, wherever and however the option is given',
    (mode) => {
      for (const uri of [
        `${HOSTS}?readPreference=${mode}`,
        `${HOSTS}?tls=true&readpreference=${mode}&w=majority`,
        `mongodb+srv://cluster.example/?READPREFERENCE=${mode}`,
      ]) {
        const fault = faultOf(uri);
        expect(fault).toContain(`has readPreference=${mode}, expected primary`);
        expect(fault).not.toContain('secret');
      }
    },
  );

  it.each([
    ['w=0', 'w=0'],
    ['readConcernLevel=available', 'readConcernLevel=available'],
    ['readConcernLevel=snapshot&w=majority', 'readConcernLevel=snapshot'],
    ['readConcernLevel=majority', 'without w=majority'],
    ['readConcernLevel=majority&w=1', 'without w=majority'],
  ])('rejects %s, with which a read may miss a write', (query, words) => {
    expect(faultOf(`${HOSTS}?${query}`)).toContain(words);
  });

  it.each([
    ...['', '?', '?readPreference=primary', '?w=1', '?w=majority&readConcernLevel=majority'],
    ...['?readConcernLevel=local', '?readConcernLevel=linearizable', '?replicaSet=readPreference%3Dnearest'],
  ])('accepts options that keep reads correct: %s', (query) => {
    expect(faultOf(`${HOSTS}${query}`)).toBeNull();
  });
});

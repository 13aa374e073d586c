import { describe, expect, it } from 'vitest';
import { FOLLOWS, liveAction, MEMBERS, REFS, story } from '../../../src/cli/demo/story.ts';
import { descriptorOfInput } from '../../../src/descriptors/registry.ts';

const live = Array.from({ length: 60 }, (_, n) => liveAction('run', n));

describe('the demo', () => {
  it('tells its story with every descriptor of recruiting and a custom one, all of them valid', () => {
    const used = new Set<string>();
    for (const { descriptor } of [...story(), ...live]) {
      const [[inputName, value] = ['', null], ...others] = Object.entries(descriptor);
      expect(others).toEqual([]);
      expect(descriptorOfInput(inputName)?.schema.safeParse(value).error, inputName).toBeUndefined();
      used.add(inputName);
    }
    expect([...used].sort()).toEqual([
      'applicantHired',
      'applicantRatingRequested',
      'applicationRating',
      'custom',
      'newApplicant',
    ]);
  });

  it('uses every key once, and the story the same keys every time', () => {
    const keys = [...story(), ...live].map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(story()).toEqual(story());
    expect(liveAction('other', 0).idempotencyKey).not.toBe(liveAction('run', 0).idempotencyKey);
  });

  it('lets known members act on known refs, so that its reader sees all of it', () => {
    const people = new Set(MEMBERS.map(({ memberId }) => memberId));
    const things = new Set(REFS.map(({ id }) => id));
    for (const { actorId, refs } of [...story(), ...live]) {
      expect(people).toContain(actorId);
      for (const { id } of refs ?? []) expect(things).toContain(id);
    }
    expect(FOLLOWS.map(({ refId }) => refId).sort()).toEqual([...things].sort());
  });
});

import { describe, expect, it } from 'vitest';
import { FOLLOWS, MEMBERS, READER, REFS } from '../../src/people.ts';
import { liveAction, story } from '../../src/story.ts';
import { followsOfRepositories, paced, readTrace } from '../../src/trace.ts';
import { DEMO_CONFIG, scheduledAction } from '../../src/around.ts';
import '../../../../src/app/features.ts';
import { checkHostConfig } from '../../../../src/descriptors/host-config.ts';
import { checkViews } from '../../../../src/feed/page/views.ts';
import { descriptorOfInput } from '../../../../src/descriptors/registry.ts';

const live = Array.from({ length: 120 }, (_, n) => liveAction('run', n));

describe('the demo', () => {
  it('plays every type of the packs and a custom one, all valid', () => {
    const used = new Set<string>();
    for (const { descriptor } of [...story(), ...live]) {
      const [[inputName, value] = ['', null], ...others] = Object.entries(descriptor);
      expect(others).toEqual([]);
      expect(descriptorOfInput(inputName)?.schema.safeParse(value).error, inputName).toBeUndefined();
      used.add(inputName);
    }
    expect([...used].sort()).toEqual([
      ...['applicantHired', 'applicantRatingRequested', 'applicationRating', 'commented', 'custom'],
      ...['followed', 'liked', 'newApplicant', 'posted'],
    ]);
  });

  it('uses each key once, and the same keys in every run of the story', () => {
    const keys = [...story(), ...live].map(({ idempotencyKey }) => idempotencyKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(story()).toEqual(story());
    expect(liveAction('other', 0).idempotencyKey).not.toBe(liveAction('run', 0).idempotencyKey);
  });

  it('uses known members and refs, so that its reader sees everything', () => {
    const people = new Set(MEMBERS.map(({ memberId }) => memberId));
    const things = new Set(REFS.map(({ id }) => id));
    for (const { actorId, refs } of [...story(), ...live]) {
      expect(people).toContain(actorId);
      for (const { id } of refs ?? []) expect(things).toContain(id);
    }
    const followed = FOLLOWS.filter(({ followerId }) => followerId === READER).map(({ refId }) => refId);
    expect(followed.sort()).toEqual([...things].sort());
    expect(MEMBERS).toHaveLength(12);
    const feeds = MEMBERS.map(({ memberId }) => FOLLOWS.filter(({ followerId }) => followerId === memberId));
    expect(new Set(feeds.map((follows) => follows.map(({ refId }) => refId).join(' '))).size).toBe(12);
  });

  it('has views that a server can have, and something for later', () => {
    expect(() => {
      checkViews(checkHostConfig(DEMO_CONFIG, 'The demo').views);
    }).not.toThrow();
    const now = new Date();
    const { descriptor, refs, publishAt } = scheduledAction('run', now);
    expect(descriptorOfInput('posted')?.schema.safeParse(Object.values(descriptor)[0]).error).toBeUndefined();
    expect(FOLLOWS).toEqual(
      expect.arrayContaining((refs ?? []).map(({ id }) => ({ followerId: READER, refId: id }))),
    );
    expect(publishAt?.getTime()).toBeGreaterThan(now.getTime());
  });

  it('plays the sample trace in the given time and in order, with a dozen followers of its repositories', async () => {
    const trace = await readTrace();
    const played = [...paced(trace.actions, 60_000, 'run')];
    expect(played).toHaveLength(300);
    const waits = played.map(([waitMs]) => waitMs);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(0);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeCloseTo(60_000, 3);
    expect(new Set(played.map(([, { idempotencyKey }]) => idempotencyKey)).size).toBe(300);
    const things = new Set(trace.refs.map(({ id }) => id));
    const follows = followsOfRepositories(trace);
    for (const { refId } of follows) expect(things).toContain(refId);
    expect(new Set(follows.map(({ followerId }) => followerId)).size).toBe(MEMBERS.length);
    // The reader of the demo sees all of it.
    const seen = new Set(follows.filter(({ followerId }) => followerId === READER).map(({ refId }) => refId));
    expect(trace.actions.filter(({ refs }) => !refs.some(({ id }) => seen.has(id)))).toEqual([]);
  });
});

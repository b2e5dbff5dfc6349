/**
 * Bad days, and what forbear is to make of them. `phases` are offered open-loop, whatever has come back: [calls a second,
 * seconds]. `ways` are the lines of a policy beside `COMMON`; `naive` gives up on a call after so long. `goals`: most or least.
 */

export const COMMON = '  timeouts: { attempt: 1s, total: 19s }\n'
const ROOM = '  limits: { maxWaiting: 5000 }\n'
const RIDE_OUT = `  breaker: { whenOpen: wait }\n${ROOM}`
const PACE = `  pace: { mode: auto }\n  retry: { retryAfter: { scope: upstream } }\n${ROOM}`
const queue = { perSecond: 750, queueMs: 500 }

export const SCENARIOS = {
  blip: {
    tells: 'two seconds of 503 at two thirds of the capacity',
    upstream: { ...queue, faults: [{ from: 5, to: 7, status: 503 }] },
    phases: [[500, 20]],
    ways: {
      refuse: { lines: '', goals: { peak: 1.25 } },
      'ride-out': { lines: RIDE_OUT, goals: { success: 99.9, peak: 1.35, p99Ms: 4000 } },
    },
  },
  limit: {
    tells: '15 a second, a ban of 2 s for a call over it, at a peak of 30',
    upstream: { latencyMs: 20, limit: { perSecond: 15, burst: 15, banMs: 2000 } },
    phases: [
      [5, 5],
      [30, 10],
      [5, 15],
    ],
    ways: { pace: { lines: PACE, goals: { success: 99, intoBan: 3 } } },
  },
  slow: {
    tells: '15 s of 20 % lost and 3 s for the rest',
    upstream: { latencyMs: 10, faults: [{ from: 5, to: 20, lossShare: 0.2, ms: 3000 }] },
    phases: [[200, 30]],
    ways: { refuse: { lines: '', goals: { attemptsPerCall: 1.1, p98Ms: 100, mostOpen: 256 } } },
  },
  tail: {
    tells: '1 % of the answers take 500 ms instead of 10',
    upstream: { latencyMs: 10, tail: { share: 0.01, ms: 500 } },
    phases: [[200, 30]],
    ways: { hedge: { lines: '  hedge: { after: p95 }\n', goals: { p999Ms: 60, attemptsPerCall: 1.05 } } },
  },
  flapping: {
    tells: 'one second of 503 in every four',
    upstream: { ...queue, faults: [5, 9, 13, 17, 21].map(from => ({ from, to: from + 1, status: 503 })) },
    phases: [[400, 28]],
    ways: {
      refuse: { lines: '', goals: { peak: 1.25 } },
      'ride-out': { lines: RIDE_OUT, goals: { success: 99.5, peak: 1.5 } },
    },
  },
  thirty: {
    tells: '30 % of the calls fail, all the time',
    upstream: { latencyMs: 10, faults: [{ from: 2, to: 60, failShare: 0.3 }] },
    phases: [[200, 20]],
    ways: { refuse: { lines: '', goals: { attemptsPerCall: 1.21, success: 80 } } },
  },
  'cold-cache': {
    tells: 'after a failure of 3 s each of the first 800 calls costs three',
    upstream: { perSecond: 600, queueMs: 500, coldMisses: 800, missCost: 3, faults: [{ from: 5, to: 8, status: 503 }] },
    phases: [[400, 30]],
    ways: {
      refuse: { lines: '', goals: { peak: 1.25 } },
      'ride-out': { lines: RIDE_OUT, goals: { success: 99, peak: 1.5 } },
    },
  },
}

import type { ParkedCalls, ParkedView } from './views.js'

/** Parked calls of a running sidecar, by its admin port. Rejects when nobody answers there. */
export function adminCalls(address: string): ParkedCalls {
  const ask = (path: string, method: 'GET' | 'POST' = 'GET'): Promise<Response> => askAdmin(address, path, method)
  const act = async (id: string, verb: string): Promise<boolean> =>
    expected(await ask(`/parked/${encodeURIComponent(id)}/${verb}`, 'POST'), [404, 409]).ok
  return {
    list: async () => ((await expected(await ask('/parked')).json()) as { entries: ParkedView[] }).entries,
    show: async id => {
      const answer = expected(await ask(`/parked/${encodeURIComponent(id)}`), [404])
      return answer.ok ? ((await answer.json()) as ParkedView) : null
    },
    retry: id => act(id, 'retry'),
    drop: id => act(id, 'drop'),
    exported: async () => {
      const answer = expected(await ask('/parked/export'), [404])
      return answer.ok ? answer.text() : ''
    },
  }
}

async function askAdmin(address: string, path: string, method: 'GET' | 'POST'): Promise<Response> {
  try {
    return await fetch(`http://${address}${path}`, { method })
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } }
    const why = cause?.code ?? message
    throw new Error(`no sidecar answers on ${address} (${why}); while it is down, --store reads its store`)
  }
}

function expected(answer: Response, also: readonly number[] = []): Response {
  if (!answer.ok && !also.includes(answer.status)) throw new Error(`the admin port answered ${answer.status}`)
  return answer
}

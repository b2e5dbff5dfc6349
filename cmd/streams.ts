export async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export function write(output: string): void {
  process.stdout.off('error', forgiveClosedPipe).on('error', forgiveClosedPipe).write(output)
}

/** Whoever reads the output may have seen enough: `forbear check policies | head`. */
function forgiveClosedPipe(error: Error): void {
  if (!('code' in error) || error.code !== 'EPIPE') throw error
}

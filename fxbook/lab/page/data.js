// The form of a lab's data, which fxbook/lab/data.py makes.

/**
 * @typedef {{shape: number[], data: number[]}} Tensor a dense float64 tensor, rows first
 * @typedef {{name: string, code: string, shown: string, python: string, format: string | null, impure: boolean, keywords: boolean,
 *            parameters: [string, string][]}} FunctionData
 * @typedef {{name: string, op: import("./node.js").Op, target: string, args: any[], kwargs: Record<string, any>, users: string[]}} NodeData
 * @typedef {{title: string, nodes: NodeData[], namespace: {used: string[], counts: Record<string, number>},
 *            functions: Record<string, FunctionData>, methods: string[], modules: Record<string, {layer: string, weight?: Tensor, bias?: Tensor}>,
 *            attributes: Record<string, Tensor>, inputs: Record<string, Tensor>, spare: Tensor,
 *            setup: import("./actions.js").Action[], puzzle?: import("./puzzle.js").Puzzle}} GraphData
 */

export {};

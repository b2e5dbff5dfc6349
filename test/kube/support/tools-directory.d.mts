export declare function toolsDirectory(): string

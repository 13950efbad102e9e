module github.com/gardefou/gardefou

go 1.26.5

